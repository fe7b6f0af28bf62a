# Booked times. Who is booked stands as if having come half an hour before; who
# is early waits, who is late stands behind those who were there, and who never
# checks in leaves the line.

site clinic
queue doctor
  prefix: D
  missed: {policy: keep}
  check_in: {required: remote, within_seconds: 900}
  appointments: {early_seconds: 1200, late_seconds: 600}
counter 1
  queues: [doctor]

at 09:00
join ann booked=10:00 channel=web → D001 scheduled appointment_at=10:00 not_before=09:40 check_in_by=10:15 rank=none
join ben booked=10:10 channel=web → D002 scheduled
join cid booked=10:20 channel=web → D003 scheduled
join dot booked=10:20 → D004 scheduled not_before=10:00 check_in_by=none
join bad booked=10:00 delay=60 → refused invalid field=appointment_at
join bad booked="2500-01-01 09:00" → refused invalid field=appointment_at
expect explain ann text.en~"it has not checked in" text.zh-CN~"尚未报到"
at 09:20
# Early: checked in, but not callable before 09:40.
check_in ann by=holder → scheduled not_before=09:40
check_in ann → refused conflict state
call 1 → nobody only_absent
at 09:39:59
expect ann scheduled
expect explain ann text.en~"it cannot be called before 09:40:00"
at 09:40
expect ann waiting place=09:30 rank=0
join eva → D005 rank=1
# dot has nothing to check in for and comes at the early window by herself.
at 10:00
expect dot waiting place=09:50
# eva came at 09:40, dot stands at 09:50: she is not passed.
expect line doctor ann eva dot
expect explain dot text.en~"its appointment is at 10:20:00" text.zh-CN~"预约时间 10:20:00"
at 10:20
# ben's late window ended at 10:20; he is just in time.
check_in ben by=holder → waiting
expect ben place=09:40
expect explain eva ahead_next=D001,D002 ahead_next.1.why=appointment
at 10:30:01
# cid was expected at 10:20 and has come after 10:30: as if joining now.
check_in cid → waiting
expect cid place=10:30:01 reason=late rank=4
expect explain cid text.en~"it checked in late, at 10:30:01"
expect line doctor ann ben eva dot cid
call 1 → ann
expect ann wait_seconds=1801
# Nobody knows where fay is: fifteen minutes after her time she is out.
join fay booked=10:40 channel=web → D006 scheduled check_in_by=10:55
at 10:54:59
expect fay scheduled
at 10:55
expect fay abandoned reason=no_check_in
