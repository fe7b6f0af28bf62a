# Three numbers a day, cancelled ones too: "closed for today" before somebody
# waits in vain. Tomorrow is another day.

begin 2026-03-02 09:00
site hall
queue main
  daily_quota: 3

join a → A001
join b → A002
cancel b
join c → A003
join d → refused full daily_quota
expect queue main joins=3 waiting=2
at 2026-03-03 09:00
join d → A001
