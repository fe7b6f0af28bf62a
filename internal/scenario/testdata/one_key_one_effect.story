# The answer was lost and the client asks again, eight times at once and after
# a restart of the server: one person, one number, one call.

site hall
queue main
counter 1
  queues: [main]

together
  8 times join business=7 key=join-7
one of
  8 times A001
expect queue main waiting=1 joins=1
join bob key=join-8 → A002
restart
join bob key=join-8 → A002
join bob key=join-8 group=ordinary → refused invalid idempotency_key_reused
expect queue main waiting=2 joins=2
call 1 key=call-1 → A001
together
  8 times call 1 key=call-1
one of
  8 times A001 call_no=1
restart
call 1 key=call-1 → A001
expect queue main waiting=1 calling=1
# Another body under the same key is another request.
call 1 key=call-1 current=complete → refused invalid idempotency_key_reused
