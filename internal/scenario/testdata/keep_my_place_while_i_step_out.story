# "Keep my place while I step out": for five minutes, twice. Pushing back
# without end from home once shut the walk-ins out.

site hall
queue main
  defer: {seconds: 300, max: 2}
counter 1
  queues: [main]

at 09:00
join ann → A001
join bob → A002
expect ann defers_left=2 actions=defer,cancel
at 09:01
defer ann by=holder → scheduled defers_left=1 not_before=09:06 rank_if_checked_in=0
expect bob rank=0
at 09:06
expect ann waiting rank=0 place=09:00
call 1 → ann
# Also when called: it frees the counter.
defer ann by=holder → scheduled defers_left=0
call 1 → bob
# Back early: I am here.
check_in ann by=holder → waiting rank=0
defer ann by=holder → refused conflict defer_max
expect ann actions=cancel
