# Open from 8 to 12; the last ticket half an hour before closing. Who has one
# is served after that too.

begin 2026-03-02 07:00
site hall
  time_zone: Europe/Berlin
  opening_hours:
    mon-fri: ["08:00-12:00"]
    last_ticket_before_seconds: 1800
queue main
counter 1
  queues: [main]

join early → refused closed before_opening
expect queue main door=closed door_until=08:00
at 08:00
expect queue main door=open door_until=11:30
join ann → A001
at 11:29:59
join bob → A002
at 11:30
join cid → refused closed last_ticket
expect queue main door=closing
expect bob waiting rank=1
at 12:00
join cid → refused closed closing
call 1 → ann
at 12:04
call 1 current=complete → bob
complete bob
expect queue main door=closed
join cid → refused closed closed
at 2026-03-03 07:59:59
join cid → refused closed before_opening
at 08:00
join cid → A001
