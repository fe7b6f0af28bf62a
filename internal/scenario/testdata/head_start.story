# A head start of five minutes: as if that group had come five minutes before.

site hall
queue main
  groups: {booked: {head_start_seconds: 300}}
counter 1
  queues: [main]

at 09:00
join ann → A001
at 09:03
join ben → A002
at 09:06
join bea group=booked → A003 rank=1 joined_at=09:06
expect bea place=09:01
expect line main ann bea ben
call 1 → ann
call 1 current=complete → bea
# She passed nobody with an earlier place: that is what a head start is.
expect explain bea passed=0 head_start_seconds=300 place=09:01
