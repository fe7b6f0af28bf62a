# Sent back "to this counter only", a person waits for that counter and for no
# other. It cannot be taken away from them.

site hall
queue main
  missed: {policy: keep}
queue lab
  prefix: L
counter 1
  queues: [main, lab]
counter 2
  queues: [main, lab]

join ann → A001
call 1 → ann
transfer ann to=main counter=2 → waiting
call 1 → nobody other_classes_waiting
call 1 ann reason="she is here" → refused conflict not_served
delete counter 2 → refused conflict in_use
change counter 2 → refused conflict in_use
  queues: [lab]
call 2 → ann
# Put back, missed and reinstated, she still waits for it.
requeue ann
call 1 → nobody
call 2 → ann
miss ann
reinstate ann → waiting
call 1 → nobody
call 2 → ann
# Sent on without a counter, anybody may call her.
transfer ann to=lab
change counter 2
  queues: [lab]
call 1 → ann
