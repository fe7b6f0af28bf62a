# A site in Tokyo at midnight: the old day ends with its last millisecond, and
# the new one begins once.

begin 2026-03-02 23:00
site hall
  time_zone: Asia/Tokyo
queue main

join ann → A001
at 23:59:59
join bob → A002
after 999ms
join cid → A003
after 1ms
join dan → A001
join eve → A002
after 1h
join fay → A003
expect site hall day=2026-03-03
expect bob abandoned reason=day_end ended_at="2026-03-03 00:00"
