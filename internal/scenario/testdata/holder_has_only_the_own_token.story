# A holder acts with the token id and on that token alone: it is no key for
# anything that staff do.

only http — credentials are the API's to judge
site hall
queue main
counter 1
  queues: [main]
key kiosk
  role: kiosk
key desk
  role: operator

join ann by=kiosk → A001
expect ann channel=kiosk
complete ann by=holder → refused unauthenticated
transfer ann to=main by=holder → refused unauthenticated
call 1 by=kiosk → refused forbidden role
change queue main
  prefix: B
call 1 by=desk → ann
start ann by=desk
# At the counter only the operator can end it.
cancel ann by=holder → refused conflict state
complete ann by=desk
rate ann by=holder stars=5 → completed
rate ann by=holder stars=1 → refused conflict rated_already
expect ann rating=5
