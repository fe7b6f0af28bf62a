# The sweep of the old day meets a bad token: booked for today by somebody who
# has joined today already. One person keeps one place, the newer one, and the
# sweep goes on with the others.

only direct — over HTTP the server's own timers are never late
begin 2026-03-02 23:00
site hall
queue main

join first run_at="2026-03-03 12:00" business=7 → A001 scheduled
join bob → A002
at 2026-03-03 00:05 before timers
join again business=7 → A001 waiting
after 10s
expect first abandoned reason=day_end
expect bob abandoned reason=day_end
expect again waiting rank=0
at 13:00
expect queue main waiting=1 scheduled=0
