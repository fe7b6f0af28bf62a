# At the end of the day the counters close; one that serves somebody closes
# when it has finished. A pause is over, and the first call opens.

begin 2026-03-02 23:50
site hall
queue main
counter 1
  queues: [main]
counter 2
  queues: [main]
counter 3
  queues: [main]

join ann → A001
call 1 → ann
start ann
open counter 2
pause counter 3 reason=supper
at 2026-03-03 00:00
expect counter 1 state=open tokens=A001
expect counter 2 state=closed
expect counter 3 state=closed state_reason=none
complete ann
expect counter 1 state=closed tokens=none
join bob → A001
call 3 → bob
expect counter 3 state=open
