# A counter that serves the queues as they are listed: first all of the first
# one. Whoever is put back keeps the place, and no miss is counted.

site hall
queue urgent
  prefix: U
queue normal
  prefix: N
counter 1
  queues: [urgent, normal]
  pick: listed
counter 2
  queues: [urgent, normal]

at 09:00
join n1 queue=normal → N001
join n2 queue=normal → N002
at 09:05
join u1 queue=urgent → U001
call 2 → n1
call 1 → u1
requeue u1 → waiting misses=none
expect u1 place=09:05
# The one just put back is not taken again by the same press.
call 1 → u1
call 1 current=requeue → n2
call 1 current=complete → u1
