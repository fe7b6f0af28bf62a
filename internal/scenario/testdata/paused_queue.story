# A paused queue takes nobody and calls nobody, and says so.

site hall
queue main
counter 1
  queues: [main]

join ann → A001
pause queue main reason="fire drill" → door=paused
join bob → refused closed paused
call 1 → nobody queue_paused
call 1 ann reason="she is here" → refused closed paused
open queue main
call 1 → ann
