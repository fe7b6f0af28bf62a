# So is another place in line given by hand.

site hall
queue main
key junior
  role: operator
key senior
  role: operator
  rights: [move]

join a → A001
after 1m
join b → A002
after 1m
join c → A003
after 1m
move c by=junior after=0 reason="a friend" → refused forbidden move
move c by=senior after=0 → refused invalid field=reason
move c by=senior after=0 reason="in pain" → c rank_reached=0
expect line main c a b
move c by=senior after=1 reason="better now" → c rank_reached=1
expect line main a c b
move c by=senior place=original reason="as before" → c
expect line main a b c
move a by=senior place=tail reason="asked to" → a
expect line main b c a
