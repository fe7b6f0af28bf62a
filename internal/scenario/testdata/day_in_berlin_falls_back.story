# Berlin, 25 October 2026: 02:00 to 03:00 comes twice. A day that starts at
# 02:30 starts with the first of the two, once.

begin 2026-10-25 01:30
site hall
  time_zone: Europe/Berlin
  day_start: "02:30"
queue main

join ann → A001
expect site hall day=2026-10-24
# 02:30 in summer time
after 1h
expect site hall day=2026-10-25
join bob → A001
# 02:30 again, in winter time
after 1h
join cid → A002
expect site hall day=2026-10-25
at 12:00
join dan → A003
expect bob waiting rank=0
