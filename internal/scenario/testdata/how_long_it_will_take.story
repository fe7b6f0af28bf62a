# The first people of a new queue are told what its settings expect; a counter that
# is free, opens, pauses or closes counts at once.

site bank
queue main
  expected_service_seconds: 300
counter 1
  queues: [main]
counter 2
  queues: [main]

at 09:00
open counter 1
join ann → A001 rank=0 estimate.method=idle estimated_wait_seconds=0 estimate.text.en=now estimate.text.zh-CN=马上
join bob → A002 rank=1 estimate.method=erlang estimated_wait_seconds=208
call 1 → ann
expect ann estimate.reason=not_waiting estimated_wait_seconds=none
# Half of all services of five minutes on average end within 208 seconds, nine of ten within 691.
expect bob rank=0 estimated_wait_seconds=208 estimate.low_seconds=32 estimate.high_seconds=691 estimate.position=1
join cid → A003 estimated_wait_seconds=504 estimate.position=2 estimate.text.en~"about 10 min"
estimate main → rank=2 estimate.position=3 estimated_wait_seconds=802
# A second counter takes bob at once, and the rate doubles for cid.
open counter 2
expect bob estimate.method=idle estimated_wait_seconds=0
call 2 → bob
expect cid estimated_wait_seconds=104
pause counter 2 reason=lunch
expect cid estimated_wait_seconds=208 estimate.why=counter_left
open counter 2
expect cid estimated_wait_seconds=104
# Whoever is away is told nothing, and is not waited for.
join dan → A004 estimate.position=2
defer cid → scheduled
expect cid estimate.reason=not_waiting
expect dan estimate.position=1
pause queue main
expect dan estimate.known=false estimate.reason=paused
