# "If I joined now" is answered without joining, for a class and a group.

site inn
queue main
  groups: {regular: {factor: 0.5}}
  classes:
    small: {}
    large: {}
counter t2
  queues: [{id: main, classes: [small]}]
counter t8
  queues: [{id: main, classes: [large]}]

at 19:00
join a class=small party=2 → A001
join b class=small party=2 → A002
join c class=large party=7 → A003 rank=0
estimate main class=small party=2 → rank=2 class=small door=open estimate.known=false
estimate main class=large party=6 → rank=1
estimate main class=small group=regular → rank=2
estimate main → refused invalid field=class
estimate main class=huge → refused invalid field=class
at 19:30
expect queue main waiting=3 joins=3
