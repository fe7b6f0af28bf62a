# A site in Vancouver: at 17:00 it is midnight in UTC, and nothing happens.
# The numbers start again at the site's own midnight.

begin 2026-03-02 16:00
site hall
  time_zone: America/Vancouver
queue main

join ann → A001
at 17:00
expect site hall day=2026-03-02 day_ends_at="2026-03-03 00:00"
join bob → A002
at 23:59:59
join cid → A003
at 2026-03-03 00:00
expect site hall day=2026-03-03
expect event site.day_started
join dan → A001 rank=0
expect ann abandoned reason=day_end
expect cid abandoned
expect queue main waiting=1 joins=1
