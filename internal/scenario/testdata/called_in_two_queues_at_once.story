# Two counters call the same person in the same moment, each in its own queue.
# The first one keeps them; the other one is told when it wants to start.

only direct — over HTTP the other token may step back before the second call
site hall
  other_tokens: hold
queue blood
queue xray
  prefix: X
counter b
  queues: [blood]
counter x
  queues: [xray]

join ann business=7 queues=blood,xray → A001 X001
call b → ann.blood
call x → ann.xray
after 1s
expect ann.blood calling
expect ann.xray scheduled reason=other_token
start ann.xray counter=x → refused conflict state
expect counter x tokens=none
start ann.blood
complete ann.blood
after 1s
expect ann.xray waiting
call x → ann.xray
