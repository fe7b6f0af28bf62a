# A double click on transfer moves once: the same key is one effect and one
# answer, and a version that is seen twice is stale the second time.

site hall
queue reception
queue lab
  prefix: L
queue xray
  prefix: X

join ann → A001
join bob → A002
together
  8 times transfer ann to=lab key=click
one of
  8 times A001 waiting queue=lab version=2
expect history ann waiting waiting
together
  transfer bob to=lab version=1
  transfer bob to=xray version=1
one of
  A002 queue=lab, refused conflict stale_version token.queue=lab
  A002 queue=xray, refused conflict stale_version token.queue=xray
expect bob version=2
transfer ann to=xray key=click → refused invalid idempotency_key_reused
expect ann queue=lab
