# Joining two queues at once where one of them refuses joins none.

site hall
queue blood
queue xray
  prefix: X
  max_length: 1

join bob queue=xray → X001
join ann queues=blood,xray → refused full max_length
expect queue blood waiting=0 joins=0
cancel bob
join ann queues=blood,xray → A001 X002
