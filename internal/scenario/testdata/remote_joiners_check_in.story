# Who joins from home must report within twenty minutes. Until then the place
# is kept and blocks nobody; who vanished is taken out.

site hall
queue main
  check_in: {required: remote, within_seconds: 1200}
counter 1
  queues: [main]

at 09:00
join ann channel=web → A001 scheduled rank=none rank_if_checked_in=0
join bea channel=web → A002 scheduled
at 09:10
join cid channel=kiosk → A003 waiting rank=0
check_in ann by=holder → waiting rank=0
expect ann place=09:00
expect cid rank=1
expect bea rank_if_checked_in=1 actions=check_in,cancel
call 1 → ann
call 1 current=complete → cid
call 1 current=complete → nobody only_absent
at 09:20
expect bea abandoned reason=no_check_in
expect ann completed
