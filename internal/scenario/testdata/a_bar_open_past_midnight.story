# Open from 20:00 to 02:00: the hours belong to the evening before, and so do
# the numbers, because the day starts at 05:00.

begin 2026-03-06 19:00
site bar
  time_zone: Europe/Madrid
  day_start: "05:00"
  opening_hours:
    fri-sat: ["20:00-02:00"]
queue main
counter 1
  queues: [main]

join ann → refused closed before_opening
at 20:00
join ann → A001
at 2026-03-07 01:59
join bob → A002
expect site bar day=2026-03-06
at 02:00
join cid → refused closed closing
call 1 → ann
call 1 current=complete → bob
complete bob
expect queue main door=closed
at 05:00
expect site bar day=2026-03-07
join cid → refused closed before_opening
at 20:00
join cid → A001
