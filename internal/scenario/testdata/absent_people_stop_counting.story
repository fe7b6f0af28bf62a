# People who never come do not clog the head: missed, held, stepped back and
# cancelled ones are nobody's "ahead", and after the last miss they are gone.

site hall
queue main
  missed: {policy: requeue, max_misses: 1}
  recall_gap_seconds: 600
counter 1
  queues: [main]
  max_serving: 4

join a → A001
join b → A002
join c → A003
join d → A004
join me → A005 rank=4
call 1 → a
miss a → scheduled
call 1 → b
start b
hold b
defer c → scheduled
cancel d
expect me rank=0
expect queue main waiting=1 scheduled=2 held=1 cancelled=1
call 1 → me
# a comes back, is missed again, and is out.
after 10m
complete me → refused conflict state
call 1 a reason="at the door" → a
miss a → abandoned
