# The plainest line: who comes first is called first, and everybody sees how
# many are ahead.

site hall
queue main
counter 1
  queues: [main]

at 09:00
join ann name="Ann" → A001 waiting rank=0 version=1 estimate.reason=no_counter_open
join bob → A002 rank=1
at 09:10
call 1 → A001 calling call_count=1 wait_seconds=600 call_deadline=09:15 name=Ann
expect bob rank=0 estimate.reason=not_enough_data
call 1 → refused conflict counter_busy token.number=A001
start ann → serving
at 09:12
call 1 current=complete → A002
expect ann completed ended_at=09:12
expect history ann waiting calling serving completed wait_seconds=600 service_seconds=120
call 1 current=complete → nobody none_waiting
expect bob completed
expect queue main waiting=0 completed=2 joins=2 door=open
