# Rank counts those who compete for the same counters: at a desk for German and
# English, the Chinese speaker is not behind the Germans.

site hall
queue main
  classes: {de: {}, en: {}, zh: {}}
counter 1
  queues: [{id: main, classes: [de, en]}]
counter 2
  queues: [{id: main, classes: [zh]}]

join a class=de → A001 rank=0
join b class=en → A002 rank=1
join c class=zh → A003 rank=0
join d class=de → A004 rank=2
join e → refused invalid field=class
call 2 → c
call 2 current=complete → nobody other_classes_waiting
call 1 class=zh → refused invalid field=class
call 1 class=en → b
# The class was wrong: an edit keeps the place and changes who is ahead.
edit a class=zh → a class=zh
expect a rank=0
expect d rank=0
call 2 → a
