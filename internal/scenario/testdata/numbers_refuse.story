# The band is used up and the queue refuses, clearly. Nothing is lost by it:
# the next day starts with the first number.

site hall
queue main
  last_number: 2
  on_last_number: refuse
  day_end: keep

join a → A001
join b → A002
join c → refused full numbers_used_up
cancel b → cancelled
join c → refused full numbers_used_up
expect queue main waiting=1 joins=2
at 2026-03-03 09:00
join c → A001 rank=1
