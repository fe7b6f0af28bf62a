# From the doctor to the blood test and back: with the old place, behind the
# next one, or only to the doctor who began. Number, joining time and history
# stay those of the first minute.

site clinic
  time_zone: Europe/Berlin
queue doctor
  prefix: D
queue blood
  prefix: B
counter room1
  queues: [doctor]
counter room2
  queues: [doctor]
counter lab
  queues: [blood]
  max_serving: 2

at 09:00
join ann name=Ann → D001
at 09:02
join ben → D002
at 09:04
join cem → D003
at 09:06
join dora → D004
call room1 → ann
start ann
call room2 → ben
start ben
at 09:10
transfer ann to=blood → D001 waiting queue=blood joined_at=09:00
transfer ben to=blood
call lab → ann
call lab → ben
start ann
start ben
call room1 → cem
start cem
at 09:15
join eli → D005
at 09:20
# Back to the doctor who began, and to nobody else: there she is next.
transfer ann to=doctor counter=room1 → D001 waiting queue=doctor rank_reached=none
# Back behind the one who is next now.
transfer ben to=doctor after=1 → D002 waiting rank_reached=1
expect ann rank=0
expect dora rank=0
expect ben rank=1
call room2 → dora
call room2 current=complete → ben
start ben
call room1 current=complete → ann
start ann
at 09:30
# Sent to the tail, as if she had come now; eli was there before.
transfer ann to=doctor place=tail → waiting
expect ann rank=1
expect line doctor eli ann
# A second test, and this time with her old place: first again.
transfer ann to=blood
transfer ann to=doctor place=original → waiting
call room1 → eli
expect history ann waiting calling serving waiting calling serving waiting calling serving waiting waiting waiting wait_seconds=360
