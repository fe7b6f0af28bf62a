# The operator may not cherry-pick: calling a given person is a right of its
# own and leaves a reason.

site hall
queue main
counter 1
  queues: [main]
key junior
  role: operator
key senior
  role: operator
  rights: [pick]

join ann → A001
join bob → A002
call 1 bob by=junior reason="a friend" → refused forbidden pick
call 1 bob by=senior → refused invalid field=reason
expect bob waiting
call 1 bob by=senior reason="faints" → bob calling reason=faints
expect event called bob actor=key:senior reason=faints
expect ann rank=0
