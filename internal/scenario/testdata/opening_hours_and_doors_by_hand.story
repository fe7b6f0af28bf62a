# The opening hours move the door at their edges. What somebody did by hand
# holds until the next edge. Saturday is closed, a holiday too.

begin 2026-03-05 08:30
site hall
  time_zone: Asia/Shanghai
  opening_hours:
    mon-fri: ["09:00-12:00", "13:00-17:00"]
    dates: {2026-03-06: closed}
queue main

expect queue main door=closed
open queue main reason="early birds" → door=open
join ann → A001
at 09:00
expect queue main door=open door_reason=none
at 11:00
close queue main now=true reason="power cut" → door=closed
join bob → refused closed closed
at 12:00
expect queue main door=closed door_reason=none
join bob → refused closed before_opening
at 13:00
expect queue main door=open
at 17:00
expect queue main door=closing
# Friday is a holiday, then comes the weekend.
at 2026-03-06 10:00
join bob → refused closed
at 2026-03-07 10:00
join bob → refused closed
at 2026-03-09 08:59
join bob → refused closed before_opening
at 09:00
join bob → A001
