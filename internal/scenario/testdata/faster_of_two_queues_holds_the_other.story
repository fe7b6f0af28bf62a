# One person waits in two queues and takes the faster. Called in one, the other
# token steps back and keeps its place; it comes back when the first one ends.

site hall
  other_tokens: hold
queue blood
queue xray
  prefix: X
counter b
  queues: [blood]
counter x
  queues: [xray]

at 09:00
join ann business=7 queues=blood,xray → A001 X001
join bob queue=xray → X002
at 09:10
call b → ann.blood
after 1s
expect ann.xray scheduled reason=other_token place=09:00
expect bob rank=0
call x → bob
complete bob
complete ann.blood → completed
after 1s
expect ann.xray waiting rank=0 place=09:00
expect event due ann.xray
call x → ann.xray
# Taken up again by an undo, the other one steps back again.
join cid business=8 queues=blood,xray → A002 X003
complete ann.xray
call b → cid.blood
start cid.blood
complete cid.blood
after 1s
expect cid.xray waiting
undo cid.blood → serving
after 1s
expect cid.xray scheduled reason=other_token
