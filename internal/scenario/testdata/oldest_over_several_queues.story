# A counter over several queues takes whoever has waited longest, their wait
# counted by their own factor.

site hall
queue one
  groups: {VIP: {factor: 0.5}}
queue two
  prefix: B
counter 1
  queues: [one, two]

at 09:00
join b1 queue=two → B001
at 09:02
join a1 → A001
at 09:04
join vip group=VIP → A002
at 09:06
join b2 queue=two → B002
at 09:10
# b1 10, a1 8, vip 6 (counts 12), b2 4.
call 1 → vip
call 1 current=complete → b1
call 1 current=complete → a1
call 1 current=complete queue=two → b2
