# One person presses the button on several phones in the same instant. The queue
# would take the same person twice; its rule does not, whoever is first.

site hall
queue main
  unique: false
  queue_rules:
    - {name: once, condition: 'joined_within("30m")', reject: once}

together
  join business=7
  join business=7
  join business=7
one of
  A001, refused too_many once, refused too_many once
join business=8 → A002
at 08:30
join business=7 → A003
