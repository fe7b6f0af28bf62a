# Two queues with one prefix share a series, so that a number means one person
# in the hall. A class may have a prefix, and then numbers, of its own.

site hall
queue main
  classes:
    cash: {}
    loan: {prefix: L}
  default_class: cash
queue late
  prefix: A

join ann → A001
join bob queue=late → A002
join cid class=loan → L001
join dan → A003
