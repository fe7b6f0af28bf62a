# The server goes down while a call runs out, and comes back: the timer fires
# late, never early, and once.

site hall
queue main
counter 1
  queues: [main]

join ann → A001
call 1 → ann
at 08:04
restart
expect ann calling call_deadline=08:05
at 08:05
expect ann scheduled misses=1 reason=call_timeout
restart
at 08:05:30
expect ann waiting misses=1
expect history ann waiting calling scheduled waiting
