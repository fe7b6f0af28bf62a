# A morning in a bank: three counters, cash and loans, important customers, a
# lunch break, somebody who does not come, and a quota for loans.

begin 2026-03-02 08:00
site bank
  time_zone: Asia/Shanghai
  opening_hours:
    mon-fri: ["09:00-12:00", "13:30-17:00"]
    last_ticket_before_seconds: 600
  other_tokens: hold
queue main
  groups: {VIP: {factor: 0.5}}
  classes:
    cash: {expected_service_seconds: 180}
    card: {expected_service_seconds: 300}
  default_class: cash
  missed: {policy: requeue, penalty_seconds: 180, max_misses: 1}
queue loan
  prefix: L
  daily_quota: 2
counter 1
  queues: [{id: main, classes: [cash]}]
counter 2
  queues: [main]
counter 3
  queues: [loan, main]
  pick: listed
key li
  role: operator
key wang
  role: operator
key kiosk
  role: kiosk

join early by=kiosk → refused closed before_opening
at 09:00
join zhao by=kiosk → A001 rank=0
join qian by=kiosk class=card → A002
at 09:01
join sun by=kiosk business=440 queues=main,loan → A003 L001
join li by=kiosk class=card → A004
at 09:04
join vip by=kiosk group=VIP → A005
call 1 by=li → zhao
call 2 by=wang → qian
start zhao by=li
start qian by=wang
# sun waits in both queues and is called for the loan first.
call 3 → sun.loan
start sun.loan
after 1s
expect sun.main scheduled reason=other_token place=09:01
at 09:08
# vip has waited 4 minutes, counting 8; li 7.
expect line main vip li
call 1 by=li current=complete → vip
at 09:13
# vip does not come: back in half a minute, three minutes behind.
expect vip scheduled misses=1
call 1 by=li → nobody other_classes_waiting
at 09:13:30
expect vip waiting
complete sun.loan
after 1s
expect sun.main waiting place=09:01
call 1 by=li → sun.main
call 2 by=wang current=complete → li
# vip's place is now 09:16, in the future: behind all who are there.
call 3 → vip
complete vip
complete li
complete sun.main
pause counter 1 reason=lunch by=li
call 1 by=li → refused conflict counter_paused
join zhou by=kiosk queue=loan → L002
join wu by=kiosk queue=loan → refused full daily_quota
call 3 → zhou
complete zhou
at 11:50
join wu by=kiosk → refused closed last_ticket
at 12:00
expect queue main door=closed completed=5
at 13:30
expect queue main door=open
join wu by=kiosk → A006 rank=0
call 1 by=li → refused conflict counter_paused
open counter 1 by=li
call 1 by=li → wu
expect site bank day=2026-03-02
