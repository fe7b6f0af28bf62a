# The band 8–10 is used up and the queue starts it again. Both people with the
# same number stay who they are.

site hall
queue main
  prefix: B
  number_width: 2
  first_number: 8
  last_number: 10
  on_last_number: wrap
counter 1
  queues: [main]

join a → B08
join b → B09
join c → B10
join d → B08
call 1 → a
expect d waiting rank=2
