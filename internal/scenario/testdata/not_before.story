# Joined now for later: not callable before, and then with the place of the
# joining.

site hall
queue main
counter 1
  queues: [main]

at 09:00
join ann delay=1800 → A001 scheduled not_before=09:30 rank=none
at 09:10
join bob → A002 rank=0
expect ann rank_if_checked_in=0
call 1 ann reason="came early" → ann
requeue ann → waiting place=09:00
expect line main ann bob
at 09:30
expect ann waiting
expect history ann scheduled calling waiting
