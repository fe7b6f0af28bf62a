# A line for three: waiting and stepped back count, whoever is called does not.
# Twenty come at once; three get in.

site hall
queue main
  max_length: 3
counter 1
  queues: [main]

together
  20 times join
one of
  A001, A002, A003, 17 times refused full max_length
# No number was spent on those who did not get in.
call 1 → A001
join ann → A004
defer ann → scheduled
join bob → refused full max_length
cancel ann
join bob → A005
