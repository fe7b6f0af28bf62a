# Waiting, called, served, on hold, missed: whoever is inside can be sent to
# another queue, and frees the counter. Scheduled and ended ones cannot.

site hall
queue main
  missed: {policy: keep}
queue lab
  prefix: L
counter 1
  queues: [main]

at 09:00
join a → A001
join b → A002
join c → A003
join d → A004
join e → A005
join f → A006
call 1 → a
call 1 current=miss → b
start b
hold b
call 1 → c
start c
transfer a to=lab → waiting queue=lab place=09:00
transfer b to=lab → waiting counter=none
expect counter 1 tokens=A003
transfer c to=lab → waiting
expect counter 1 tokens=none
call 1 → d
transfer d to=lab → waiting
transfer e to=lab → waiting
defer f → scheduled
transfer f to=lab → refused conflict state
cancel f
transfer f to=lab → refused conflict state
expect line lab a b c d e
