# Who was served, missed or given up may not come again within the hour, and is
# told when. Who cancelled may.

site hall
queue main
  rejoin_after_seconds: 3600
counter 1
  queues: [main]

at 09:00
join ann business=7 → A001
call 1 → ann
start ann
at 09:10
complete ann
at 09:30
join ann business=7 → refused too_many rejoin_after retry_after_seconds=2400
join bob business=8 → A002
cancel bob
join bob business=8 → A003
at 10:09:59
join ann business=7 → refused too_many rejoin_after
at 10:10
join ann business=7 → A004
