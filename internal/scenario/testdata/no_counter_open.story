# No counter open: the wait is unknown, with the reason; never zero minutes.

site hall
queue main
  expected_service_seconds: 300
counter 1
  queues: [main]

join ann → A001 estimated_wait_seconds=none estimate.known=false estimate.reason=no_counter_open
open counter 1 → state=open
# Nobody ahead, and a counter that waits for somebody.
expect ann estimate.method=idle estimated_wait_seconds=0
pause counter 1 reason=lunch → state=paused state_reason=lunch
expect ann estimate.reason=no_counter_open
call 1 → refused conflict counter_paused
close counter 1 → state=closed
# The first call opens a counter.
call 1 → ann
expect counter 1 state=open tokens=A001
expect ann estimate.reason=not_waiting
pause queue main
join bob → refused closed paused
estimate main → rank=0 door=paused estimate.reason=paused
