# Nobody has to wait for a timer: when the timers are late, the first join
# after midnight starts the day.

only direct — over HTTP the server's own timers are never late
begin 2026-03-02 23:00
site hall
queue main
counter 1
  queues: [main]

join ann business=7 → A001
join bob → A002
at 2026-03-03 00:05 before timers
# Not refused for being in yesterday's line.
join again business=7 → A001 rank=0
call 1 → again
expect event site.day_started
after 1s
expect ann abandoned reason=day_end
expect bob abandoned
expect queue main waiting=0 calling=1
