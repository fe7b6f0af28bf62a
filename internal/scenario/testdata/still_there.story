# Nobody is removed without having been asked: "still coming?" No answer in two
# minutes is an answer.

site hall
queue main
  ask: {after_seconds: 1800, grace_seconds: 120, on_silence: abandon}
queue patient
  prefix: P
  ask: {after_seconds: 1800, grace_seconds: 120, on_silence: defer}
  defer: {max: 1}

at 09:00
join ann → A001
join bob → A002
join cid queue=patient → P001
confirm ann by=holder → refused conflict state
at 09:30
expect event asked ann
expect ann waiting actions=confirm,defer,cancel
at 09:31
confirm ann by=holder → waiting
at 09:32
expect bob abandoned reason=no_answer
expect cid scheduled not_before=09:37
at 09:40
expect ann waiting rank=0
expect cid waiting place=09:00
# The second silence is once too often.
at 10:08
expect cid waiting actions=confirm,cancel
at 10:09
expect cid abandoned reason=no_answer
