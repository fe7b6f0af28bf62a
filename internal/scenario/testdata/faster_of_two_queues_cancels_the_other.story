# The same, where the site says that one service is enough: called in one
# queue, the other place is given up.

site hall
  other_tokens: cancel
queue cash
queue loan
  prefix: L
counter c
  queues: [cash]

join ann business=7 queues=cash,loan → A001 L001
call c → ann.cash
after 1s
expect ann.loan cancelled
expect queue loan waiting=0 cancelled=1
# Without a business id nobody knows that two tokens are one person.
join bob queues=cash,loan → A002 L002
call c current=complete → bob.cash
after 1s
expect bob.loan waiting
