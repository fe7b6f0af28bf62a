# Factor 0.5 against 1, to the second: after 2 × 10 minutes both count the
# same, and then who came first goes first.

site hall
queue main
  groups: {VIP: {factor: 0.5}}
counter 1
  queues: [main]

at 09:00
join ann → A001
at 09:10
join vip group=VIP → A002 rank=1 
at 09:19:59
expect vip rank=1
at 09:20
expect ann rank=0
expect vip rank=1
at 09:20:01
expect vip rank=0
expect ann rank=1
call 1 → vip
expect explain vip passed=1 factor=0.5 priority_group=VIP
