# A bar counts the night to the evening before: its day starts at 04:00.

begin 2026-03-06 22:00
site bar
  time_zone: Europe/Berlin
  day_start: "04:00"
queue main
counter 1
  queues: [main]

join ann → A001
at 2026-03-07 01:30
join bob → A002 rank=1
call 1 → A001
start ann
at 03:59
expect bob waiting
expect site bar day=2026-03-06
at 04:00
expect site bar day=2026-03-07
expect bob abandoned reason=day_end
# Whoever is at a counter is finished first, and the counter stays open for it.
expect ann serving
expect counter 1 state=open
complete ann → completed
expect counter 1 state=closed
join cid → A001
