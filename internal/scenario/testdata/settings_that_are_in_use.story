# Settings change while people wait: what would hurt them is refused, and the
# rest holds from now on.

site hall
queue main
  max_length: 2
counter 1
  queues: [main]

join a → A001
join b → A002
join c → refused full max_length
change queue main
  max_length: 3
join c → A003
change queue main → refused conflict not_empty
  ordering: epoch
change queue main → refused invalid field=site
  site: other
change queue main
  call_timeout_seconds: 60
call 1 → a call_deadline=08:01
expect queue main version=3
