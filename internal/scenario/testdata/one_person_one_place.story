# One person with one business id is in a queue once, however often and from
# however many devices they join at once.

site hall
queue main
queue open
  prefix: O
  unique: false

together
  10 times join business=7
one of
  A001, 9 times refused exists already_in_line token.number=A001
join first business=7 queue=open → O001
join second business=7 queue=open → O002
