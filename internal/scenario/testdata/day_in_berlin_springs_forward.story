# Berlin, 29 March 2026: at 02:00 the clock goes to 03:00. A day that should
# start at 02:30 starts with the first moment after the gap, once.

begin 2026-03-29 01:00
site hall
  time_zone: Europe/Berlin
  day_start: "02:30"
queue main

join ann → A001
at 01:59:59
join bob → A002
expect site hall day=2026-03-28
at 03:00
expect site hall day=2026-03-29
join cid → A001
at 04:00
join dan → A002
at 2026-03-30 02:29
join eve → A003
at 2026-03-30 02:30
join fay → A001
expect site hall day=2026-03-30
