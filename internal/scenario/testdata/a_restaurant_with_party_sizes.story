# Tables are counters and parties are classes: a table for two never goes to a
# party of seven, however long it waits, and the big table takes big parties
# first.

begin 2026-03-06 18:00
site inn
  time_zone: Europe/Berlin
  day_start: "04:00"
queue small
  prefix: S
  call_timeout_seconds: 600
  defer: {seconds: 900, max: 1}
  fields: [{name: party_size, type: number, required: true}]
queue large
  prefix: L
  call_timeout_seconds: 600
  fields: [{name: party_size, type: number, required: true}]
counter table2
  queues: [small]
  seats: {min: 1, max: 2}
counter table4
  queues: [small]
  seats: {min: 1, max: 4}
counter table8
  queues: [large, small]
  pick: listed
  seats: {min: 3, max: 8}

join seven queue=large party=7 name=Sieben → L001 rank=0
join ann queue=small party=2 → S001 rank=0
join bob queue=small → refused invalid field=party_size
at 18:05
join bob queue=small party=3 → S002 rank=1
join cem queue=small party=2 → S003 rank=2
call table2 → ann
call table4 → bob
start ann
start bob
estimate small party=2 → rank=1
at 18:10
call table8 → seven party_size=7
start seven
# A walk around the block before the call.
defer cem by=holder → scheduled not_before=18:25
join dan queue=small party=4 → S004 rank=0
at 18:25
expect cem waiting rank=0
expect dan rank=1
at 19:10
call table2 current=complete → cem
start cem
# No big party waits: the big table takes a small one.
call table8 current=complete → dan
expect queue large waiting=0 completed=1
# The kitchen closes: who sits, stays.
close queue small → door=closing
join eva queue=small party=2 → refused closed closing
at 2026-03-07 00:30
expect bob serving
expect site inn day=2026-03-06
complete bob
complete cem
expect queue small door=closing
complete dan → refused conflict state
