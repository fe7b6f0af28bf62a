# The band A001–A003 is used up and the queue widens it: it counts on.

site hall
queue main
  last_number: 3
  on_last_number: widen

join a → A001
join b → A002
join c → A003
join d → A004
