# This hall keeps its line over night: the same people, in the same order, with
# the numbers of yesterday. New numbers start again.

begin 2026-03-02 16:00
site hall
queue main
  day_end: keep
counter 1
  queues: [main]

join ann → A001
at 17:00
join bob → A002
call 1 → ann
start ann
complete ann
at 2026-03-03 00:00
expect site hall day=2026-03-03
# A counter closes at the end of the day.
expect counter 1 state=closed
expect bob waiting rank=0 joined_at="2026-03-02 17:00"
expect queue main waiting=1 joins=0
join cid → A001 rank=1
call 1 → bob A002
expect bob wait_seconds=25200
