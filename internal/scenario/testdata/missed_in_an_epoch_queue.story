# In the ordering epoch "now" is scaled like a joining: missed at 10:05 with
# factor 0.5 means 05:02:30, and the penalty is added to that.

site hall
queue main
  ordering: epoch
  groups: {VIP: {factor: 0.5}}
  missed: {penalty_seconds: 600}
counter 1
  queues: [main]

at 10:00
join vip group=VIP → A001
expect vip place=05:00
call 1 → vip
at 10:05
expect vip scheduled place=05:12:30
at 10:05:30
expect vip waiting place=05:12:30
join two group=VIP → A002
expect two place=05:02:45
expect line main two vip
