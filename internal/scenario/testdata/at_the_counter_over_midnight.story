# The line is emptied at midnight while people are at the counters. They are
# finished there: who does not come is gone, and nobody is put back into
# yesterday's line, from which nobody would ever be called.

begin 2026-03-02 23:50
site hall
queue main
  missed: {policy: requeue, max_misses: 5}
queue night
  prefix: N
counter 1
  queues: [main]
  max_serving: 9

join a → A001
join b → A002
join c → A003
join d → A004
join e → A005
join f → A006
call 1 → a
start a
call 1 → b
start b
call 1 → c
start c
at 23:58
call 1 → d
call 1 → e
at 23:59:50
cancel f
complete b
at 2026-03-03 00:00:10
# Its place is gone.
undo f → refused conflict undo_too_late
undo b → serving
requeue a → refused conflict state
defer e → refused conflict state
close counter 1 current=requeue → refused conflict state
transfer a to=night → waiting queue=night
complete b → completed
hold c → held
resume c → serving
complete c
at 00:03
expect d abandoned misses=1 reason=call_timeout
expect e abandoned
join a2 → A001 rank=0
expect line main a2
expect counter 1 tokens=none
