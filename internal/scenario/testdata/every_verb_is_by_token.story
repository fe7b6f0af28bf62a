# The same printed number may exist twice: numbers wrap. Ending one of two
# A001 touches that one only.

site hall
queue main
  last_number: 2
  on_last_number: wrap
counter 1
  queues: [main]
counter 2
  queues: [main]

join ann → A001
join bob → A002
join cid → A001
call 1 → ann
cancel cid → cancelled
expect ann calling
complete ann → completed
expect bob waiting rank=0
