# Two operators press "call next" in the same instant: each gets another
# person, and a third finds nobody.

site hall
queue main
counter 1
  queues: [main]
counter 2
  queues: [main]
counter 3
  queues: [main]

join ann → A001
join bob → A002
together
  call 1
  call 2
  call 3
one of
  A001, A002, nobody none_waiting
expect queue main waiting=0 calling=2
