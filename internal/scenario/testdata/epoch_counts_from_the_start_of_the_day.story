# The ordering epoch: place = start of the day + (time since then) × factor.
# At 10:00 factor 0.5 stands where 05:00 is; it grows unfair through the day.

site hall
queue main
  ordering: epoch
  day_end: expire
  groups: {VIP: {factor: 0.5}}
counter 1
  queues: [main]

at 09:00
join ann → A001
at 10:00
join vip group=VIP → A002 rank=0
expect vip place=05:00
at 18:00
join late group=VIP → A003
expect line main vip ann late
expect late place=09:00
call 1 → vip
call 1 current=complete → ann
call 1 current=complete → late
