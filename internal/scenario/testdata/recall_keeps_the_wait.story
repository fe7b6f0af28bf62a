# A recall announces again and gives time again. It does not touch the wait
# that was recorded, and comes at most three times, half a minute apart.

site hall
queue main
counter 1
  queues: [main]

at 09:00
join ann → A001
at 09:20
call 1 → ann wait_seconds=1200 call_deadline=09:25 call_no=1
recall ann → refused too_many too_early retry_after_seconds=30
at 09:20:30
recall ann → calling call_count=2 call_deadline=09:25:30 wait_seconds=1200 call_no=1
confirm ann by=holder → calling
confirm ann by=holder → refused conflict confirmed_already
at 09:21
recall ann → call_count=3
at 09:22
recall ann → refused conflict max_calls
start ann
complete ann → wait_seconds=1200
# An event each: the board plays one announcement after the other.
expect event called ann
expect event recalled ann
expect event recalled ann
