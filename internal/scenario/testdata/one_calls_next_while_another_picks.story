# One operator calls next while another one picks that same person by hand.
# Exactly one of them gets ann; the other one gets the next, or is told which
# counter has her.

site hall
queue main
counter 1
  queues: [main]
counter 2
  queues: [main]

join ann → A001
join bob → A002
together
  call 1
  call 2 ann reason="knows the case"
one of
  A001 counter=2, A002 counter=1
  A001 counter=1, refused conflict state token.counter=1
