# A counter that still has somebody closes only when it is said what becomes of
# them.

site hall
queue main
counter 1
  queues: [main]
  max_serving: 2
counter 2
  queues: [main]

join a → A001
join b → A002
call 1 → a
call 1 → b
call 2 a reason="takes over" → refused conflict state token.counter=1
start a counter=2 → refused conflict other_counter
close counter 1 → refused conflict has_tokens
delete counter 1 → refused conflict in_use
close counter 1 current=requeue → state=closed tokens=none
expect line main a b
delete counter 1
call 2 → a
delete queue main → refused conflict in_use
