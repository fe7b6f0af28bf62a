# Where the policy is remove, who does not come is out.

site hall
queue main
  missed: {policy: remove}
counter 1
  queues: [main]

join ann business=7 → A001
call 1 → ann
miss ann → abandoned misses=1
# The holder is free to join again.
join ann business=7 → A002
