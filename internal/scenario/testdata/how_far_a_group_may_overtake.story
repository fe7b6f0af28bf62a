# max_overtake bounds how much faster than the slowest group any group may age:
# at most 1.5 times here, whatever its factor says.

site hall
queue main
  groups: {VIP: {factor: 0.25}}
  max_overtake: 1.5

at 09:00
join ann → A001
at 09:10
join vip group=VIP → A002
expect explain vip factor=0.7 clipped=true
# ann has waited w, vip w − 10 min: it passes when w < 1.43 (w − 10), after 33:20.
at 09:33:20
expect ann rank=0
at 09:33:21
expect vip rank=0
