# A missed person comes back by itself, later than those who came: half a
# minute later, five minutes behind. After the last allowed miss it is over.

site hall
queue main
  missed: {policy: requeue, penalty_seconds: 300, max_misses: 1}
counter 1
  queues: [main]

at 09:00
join ann → A001
at 09:10
call 1 → ann
# Nobody comes: after five minutes the call is over by itself.
at 09:15
expect ann scheduled misses=1 reason=call_timeout not_before=09:15:30
expect event missed ann reason=call_timeout
join bob → A002
join cid → A003
at 09:15:29
call 1 → bob
at 09:15:30
expect ann waiting place=09:20
expect line main cid ann
call 1 current=complete → cid
call 1 current=complete → ann
miss ann → abandoned misses=2
expect queue main abandoned=1 waiting=0
