# Put on hold, a person waits for a paper and no timer brings them back; the
# counter serves others meanwhile. To go on, the counter needs room.

site hall
queue main
counter 1
  queues: [main]

at 09:00
join ann → A001
join bob → A002
call 1 → ann
start ann
at 09:05
hold ann → held counter=1
call 1 → bob
start bob
at 17:00
expect ann held
resume ann → refused conflict no_room
complete bob
resume ann → serving counter=1
at 17:10
complete ann
expect history ann waiting calling serving held serving completed hold_seconds=28500 service_seconds=900
