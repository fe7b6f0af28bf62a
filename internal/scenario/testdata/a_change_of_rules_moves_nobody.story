# A factor is fixed at the join and shown. Other rules move nobody who waits,
# until somebody with the right move asks for it; then everybody is judged by
# what was known at the join.

site hall
queue main
  groups: {VIP: {factor: 0.5}}
key junior
  role: operator
key senior
  role: operator
  rights: [move]
counter 1
  queues: [main]

join ann attrs={"age":30} → A001
after 1m
join bob attrs={"age":80} → A002
after 1m
join cem attrs={"age":90} group=VIP → A003
join dan attrs={"age":90} delay=3600 → scheduled
call 1 → ann
join eve attrs={"age":20} → A005
change queue main
  queue_rules: [{name: elderly, condition: "ext_attrs.age >= 70", action: "-0.2"}]
expect bob factor=1 version=1
expect cem factor=0.5
reapply queue main by=junior → refused forbidden move
reapply queue main by=senior → checked=4 changed=3
expect event moved bob reason=rules_reapplied
expect event moved cem reason=rules_reapplied
expect event moved dan reason=rules_reapplied
expect bob factor=0.8 version=2 reason=rules_reapplied
expect cem factor=0.3
expect dan factor=0.8 scheduled
expect ann factor=1 calling
reapply queue main → checked=4 changed=0
restart
expect bob factor=0.8
change queue main
  queue_rules: null
reapply queue main → checked=4 changed=3
expect bob factor=1
expect cem factor=0.5
