# People read 101 as "a hundred ahead", so this hall starts at 1; that one at
# 500 without a letter.

site hall
queue main
queue other
  prefix: ""
  series: other
  number_width: 1
  first_number: 500

join ann → A001 rank=0
join bob queue=other → 500 rank=0
join cid queue=other → 501 rank=1
