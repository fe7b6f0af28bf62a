# Closing time: nobody new, but those inside are served and still see their
# place. When the last one is done the door is closed.

site hall
queue main
counter 1
  queues: [main]

join ann → A001
join bob → A002
close queue main reason="inventory" → door=closing door_reason=inventory
join cid → refused closed closing
expect bob waiting rank=1 door=closing
call 1 → ann
call 1 current=complete → bob
expect queue main door=closing
complete bob
expect queue main door=closed
expect event queue.door_changed reason=inventory
call 1 → nobody queue_closed
open queue main → door=open
join cid → A003
# At once means at once.
close queue main now=true → door=closed
call 1 → nobody queue_closed
expect cid waiting door=closed
