# A clinic on two days: bookings for tomorrow move on at the day's end, walk-ins
# do not. The wait of somebody booked counts from the booked time.

begin 2026-03-02 16:00
site clinic
  time_zone: Asia/Shanghai
queue doctor
  prefix: D
  classes:
    walk: {name: Walk in}
    book: {name: Booked, prefix: B}
  default_class: walk
  missed: {policy: keep}
  appointments: {early_seconds: 600, head_start_seconds: 600, late: keep}
counter room
  queues: [doctor]

expect queue doctor warnings~"keeps the number of the day of the booking"
join tom class=book booked="2026-03-03 09:00" → B001 scheduled
join uma class=book booked="2026-03-03 00:05" → B002 scheduled
join vic → D001 waiting
at 23:57
# Booked for five past midnight, uma may be called already; the day's end leaves
# her in the line, and vic not.
expect uma waiting
expect line doctor vic uma
at 2026-03-03 00:00
expect uma waiting
expect vic abandoned reason=day_end
expect tom scheduled not_before=08:50
expect line doctor uma
call room → uma
complete uma
at 08:30
join xia → D001 waiting rank=0
at 08:45
join yan → D002 waiting
at 08:50
expect tom waiting place=08:50
join zoe → D003 waiting
# A walk-in who was there earlier is not passed by a booking.
call room → xia
at 09:05
# An hour of booking ahead is no hour of waiting.
call room current=complete → yan
call room current=complete → tom
expect tom wait_seconds=300
expect history tom scheduled waiting calling
call room current=complete → zoe
