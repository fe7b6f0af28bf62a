# The wrong button: the same person may take it back within a minute, if
# nothing came after it.

site hall
queue main
queue lab
  prefix: L
counter 1
  queues: [main]
key eva
  role: operator
key max
  role: operator

at 09:00
join ann → A001
join bob → A002
call 1 by=eva → ann
start ann by=eva
complete ann by=eva → completed
undo ann by=max → refused conflict other_actor
undo ann by=eva → serving counter=1
complete ann by=eva
# The counter has called somebody else meanwhile: there is no room.
call 1 by=eva → bob
undo ann by=eva → refused conflict no_room
miss bob by=eva → scheduled misses=1
undo bob by=eva → calling misses=none call_deadline=09:05
transfer bob to=lab by=eva → waiting queue=lab
undo bob by=eva → calling queue=main counter=1
cancel bob by=eva → cancelled
at 09:01
undo bob by=eva → refused conflict undo_too_late
undo ann by=eva → refused conflict undo_too_late
