# 2,000 people join in one moment: no number comes twice, none is skipped.

site hall
queue main
  number_width: 4
counter 1
  queues: [main]

together
  2000 times join
one of
  A0001..A2000
expect queue main waiting=2000 joins=2000
join last → A2001 rank=2000
call 1 → A0001
