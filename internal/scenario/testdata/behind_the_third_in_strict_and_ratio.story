# An operator may place somebody behind the third in any ordering. Where ranks
# or shares do not allow that place, the answer tells the one reached.

site hall
queue triage
  ordering: strict
  groups: {red: {}}
  missed: {policy: keep}
queue share
  prefix: S
  ordering: ratio
  groups: {VIP: {share: 2}}
queue day
  prefix: E
  ordering: epoch
  groups: {VIP: {factor: 0.5}}
counter 1
  queues: [triage, share]
counter 2
  queues: [day]
key clerk
  role: operator

at 09:00
join a1 → A001
at 09:01
join a2 → A002
at 09:02
join a3 → A003
at 09:03
join r1 group=red → A004
at 09:04
join r2 group=red → A005
expect line triage r1 r2 a1 a2 a3
move a3 after=0 reason=faint by=clerk → refused forbidden move
move a3 after=0 → refused invalid field=reason
# Before a red one an ordinary one stands only when overdue, before all.
move a3 after=0 reason="as agreed" → waiting rank_reached=0
expect line triage a3 r1 r2 a1 a2
# Behind the first red one is no place: the next that is left.
move a3 after=1 reason="as agreed" → waiting rank_reached=2
expect line triage r1 r2 a3 a1 a2
move a3 after=3 reason="as agreed" → waiting rank_reached=3
expect line triage r1 r2 a1 a3 a2
move a3 place=original reason="not so" → waiting place=09:02
expect line triage r1 r2 a1 a2 a3
move a1 place=tail reason="went out" → waiting place=09:04
expect line triage r1 r2 a2 a3 a1
move r1 after=9 reason="went out" → waiting rank_reached=1
expect line triage r2 r1 a2 a3 a1
# Overdue, everybody is one line, and every place can be reached.
at 10:30
expect line triage a2 a3 r2 a1 r1
move a1 after=1 reason="was first" → waiting rank_reached=1
expect line triage a2 a1 a3 r2 r1
expect explain a1 text.en~"an operator moved it at 10:30:00 (was first)" bound=none
call 1 → a2
miss a2
reinstate a2 after=2 → waiting rank_reached=2
expect line triage a1 a3 a2 r2 r1

at 10:40
join s1 queue=share → S001
join s2 queue=share → S002
join v1 queue=share group=VIP → S003
join v2 queue=share group=VIP → S004
join v3 queue=share group=VIP → S005
expect line share s1 v1 v2 s2 v3
move v3 after=0 reason="in a hurry" → waiting
expect v3 rank=0
expect line share v3 s1 v1 s2 v2
move v3 place=tail reason="not so" → waiting
expect line share s1 v1 v2 s2 v3

join e1 queue=day → E001
at 10:50
join e2 queue=day → E002
join w1 queue=day group=VIP → E003 rank=0
move e2 after=0 reason=faint → waiting rank_reached=0
expect line day e2 w1 e1
move e2 after=1 reason=better → waiting rank_reached=1
expect line day w1 e2 e1
# As if joining now: half of the day until now, which is where e2 was put.
move w1 place=tail reason="went out" → waiting rank_reached=none
expect line day e2 w1 e1
