# Where the queue says ask, a call that nobody answers stays until the operator
# decides; where it says start, the service begins.

site hall
queue main
  on_call_timeout: ask
queue table
  prefix: T
  on_call_timeout: start
counter 1
  queues: [main]
counter 2
  queues: [table]

join ann → A001
join bob queue=table → T001
call 1 → ann
call 2 → bob
at 08:30
expect ann calling call_deadline=08:05
expect bob serving started_at=08:05
miss ann → scheduled
