# Moved to another queue, A001 does not become B001 in the holder's hand: the
# same token, number, joining time and history.

site hall
queue reception
  prefix: A
queue doctor
  prefix: B
counter front
  queues: [reception]
counter room
  queues: [doctor]

at 09:00
join ann name=Ann → A001
at 09:05
join ben queue=doctor → B001
at 09:10
call front → A001
at 09:12
transfer ann to=doctor reason="first visit" → A001 waiting queue=doctor joined_at=09:00
# She came before ben, and the place goes with her.
expect line doctor ann ben
expect event transferred ann queue=doctor
call room → A001 name=Ann joined_at=09:00
expect history ann waiting calling waiting calling wait_seconds=600
