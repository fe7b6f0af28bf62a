# This one is emptied at the end of the day: waiting, missed, held and stepped
# back. Booked for later stays; at a counter is finished first.

begin 2026-03-02 23:50
site hall
queue main
  missed: {policy: keep, keep_seconds: 86400}
  call_timeout_seconds: 3600
counter 1
  queues: [main]
counter 2
  queues: [main]

join a → A001
join b → A002
join c → A003
join d → A004
join e → A005
join f run_at="2026-03-03 10:00" → A006 scheduled not_before="2026-03-03 10:00"
call 1 → a
miss a → missed
call 1 → b
start b
hold b → held
call 1 → c
start c
call 2 → d
at 23:58
defer e → scheduled
join g → A007
at 2026-03-03 00:00
expect a abandoned reason=day_end
expect b abandoned reason=day_end
expect c serving
expect d calling
expect e abandoned reason=day_end
expect g abandoned reason=day_end
expect f scheduled not_before=10:00
expect queue main waiting=0 scheduled=1 abandoned=0 joins=0
complete c → completed
join h → A001 rank=0
# A call that began yesterday is finished like any other.
start d
complete d → completed
at 10:00
# It has moved on with its place of yesterday.
expect f waiting rank=0 place="2026-03-02 23:50"
call 1 → f
call 1 current=complete → h
