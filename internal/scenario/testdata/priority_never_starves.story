# A factor of 0.5 counts the wait double. Important people come without end,
# and still an ordinary person is passed only by those who waited more than
# half as long: the bound that the queue promises.

site hall
queue main
  groups: {VIP: {factor: 0.5}}
counter 1
  queues: [main]

at 09:00
join ann → A001
at 09:04
join v1 group=VIP → A002 rank=1
at 09:06
join v2 group=VIP → A003
at 09:10
# ann waits 10 minutes, v1 6 (counts 12), v2 4 (counts 8).
expect line main v1 ann v2
call 1 → v1
expect explain v1 passed=1 text.en~"passed 1"
at 09:11
join v3 group=VIP
at 09:14
# ann 14; v2 8 (counts 16); v3 3 (counts 6).
call 1 current=complete → v2
join v4 group=VIP
at 09:21
# ann 21; v3 10 (counts 20); v4 7 (counts 14): it is her turn, whoever comes.
call 1 current=complete → ann
expect ann wait_seconds=1260
