# The kiosk gives a number and the console hears of it at once, and of all that
# follows, in order and without gaps.

site hall
queue main
queue lab
  prefix: L
counter 1
  queues: [main]

join ann → A001
call 1 → ann
start ann
hold ann
resume ann
transfer ann to=main place=tail → refused invalid field=queue_id
transfer ann to=lab place=tail
cancel ann by=holder
expect event joined ann number=A001 queue=main state=waiting version=1
# The first call opens the counter.
expect event counter.state_changed counter=1
expect event called ann counter=1 state=calling version=2
expect event started ann version=3
expect event held ann version=4
expect event resumed ann version=5
expect event transferred ann version=6 queue=lab
expect event cancelled ann version=7 actor=holder
