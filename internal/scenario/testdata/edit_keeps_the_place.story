# A name, a phone number, a note: an edit of a waiting token keeps its place.

site hall
queue main
counter 1
  queues: [main]

join ann name=An → A001 rank=0
join bob → A002
after 1m
edit ann name="Ann Berg" phone="+49 30 1234" note="wheelchair" → A001 rank=none name="Ann Berg" version=2
expect ann rank=0 place=08:00 joined_at=08:00
edit ann version=1 note=lost → refused conflict stale_version
expect ann note=wheelchair
call 1 → ann note=wheelchair
