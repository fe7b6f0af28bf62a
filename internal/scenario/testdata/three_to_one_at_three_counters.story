# Members get three calls of four while everybody waits, at three counters that
# call at the same moment too. Who has no share is not shut out, and what a
# group leaves unused goes to the others.

site hall
queue main
  ordering: ratio
  groups: {VIP: {share: 3}}
  missed: {policy: keep}
counter 1
  queues: [main]
counter 2
  queues: [main]
counter 3
  queues: [main]

at 09:00
join o1 → A001
join o2 → A002
join o3 → A003
join v1 group=VIP → A004
join v2 group=VIP → A005
join v3 group=VIP → A006
join v4 group=VIP → A007
join v5 group=VIP → A008
join v6 group=VIP → A009
expect queue main fairness~"VIP gets 3 of 4 calls" groups.ordinary.share=1
expect o1 rank=0
expect o2 rank=4
# Nobody owes anything yet: the oldest first. Then three of the members.
expect line main o1 v1 v2 v3 o2 v4 v5 v6 o3
expect explain o2 rank=4 ahead_next=A001,A004,A005,A006 ahead_next.1.why=share text.en~"by the shares, VIP 3 to ordinary 1, it is the turn of VIP"
together
  call 1
  call 2
  call 3
one of
  A001, A004, A005
together
  call 1 current=complete
  call 2 current=complete
  call 3 current=complete
one of
  A006, A002, A007
expect explain o2 passed_by=A006,A005,A004 passed_by.0.why=share bound.text.en~"ordinary gets 1 of 4 calls"
expect explain v3 compared=A006,A002
together
  call 1 current=complete
  call 2 current=complete
  call 3 current=complete
one of
  A008, A009, A003
# Only ordinary people are left: nothing is kept free for members.
join o4 → A010 rank=0
join o5 → A011 rank=1
call 1 current=complete → o4
call 2 current=complete → o5
# And members who come now do not catch up what they did not use.
join o6 → A012
join v7 group=VIP → A013 rank=0
call 3 current=complete → v7
