# A transfer to a queue that is closed, full or has that person already: the
# person stays where they were, as they were.

site hall
queue reception
queue doctor
  prefix: D
  max_length: 1
queue lab
  prefix: L
counter front
  queues: [reception]

join ann business=7 → A001
join full queue=doctor → D001
join twin business=7 queue=lab → L001
call front → ann
start ann
transfer ann to=doctor → refused full max_length
transfer ann to=lab → refused exists already_in_line
close queue lab
transfer ann to=lab → refused closed closing
pause queue doctor
transfer ann to=doctor → refused closed paused
expect ann serving queue=reception counter=front version=3
expect history ann waiting calling serving
expect queue doctor waiting=1
open queue doctor
cancel full
transfer ann to=doctor → waiting queue=doctor
