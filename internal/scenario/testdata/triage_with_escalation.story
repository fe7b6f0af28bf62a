# An emergency room: red before yellow before everybody else, whoever came
# first. But who has waited an hour goes before every colour.

site ward
queue triage
  ordering: strict
  groups: {red: {rank: 0}, yellow: {rank: 1}}
  escalate_after_seconds: 3600
  call_timeout_seconds: 7200
counter 1
  queues: [triage]
counter 2
  queues: [triage]

at 08:00
join ann → A001 rank=0
at 08:10
join ben group=yellow → A002 rank=0
at 08:20
join cid group=red → A003 rank=0
at 08:30
join dot group=red → A004 rank=1
join eva group=yellow → A005 rank=3
expect line triage cid dot ben eva ann
expect queue triage fairness.0~"until somebody has stood 1:00:00" groups.ordinary.rank=2
expect explain ann rank=4 ahead_next=A003,A004,A002,A005 ahead_whole=true ahead_next.0.why=rank
expect explain ann text.en~"red (rank 0) goes before ordinary (rank 2)" text.zh-CN~"red（等级 0）先于 ordinary（等级 2）"
expect explain ann bound.firm=09:00
call 1 → cid
call 2 → dot
# At nine ann has waited an hour: she is next, and was passed by two until then.
at 08:59:59
expect ann rank=2
at 09:00
expect ann rank=0
expect line triage ann ben eva
at 09:10
join fred group=red → A006 rank=2
# ben's hour is over too: the oldest of the overdue comes first, then the ranks.
expect line triage ann ben fred eva
call 1 current=complete → ann
expect explain ann passed_by=A004,A003 passed_by.0.why=rank compared.0.overdue=true
expect explain ann text.en~"A001 overdue, 1:10:00" text.en~"Passed by A004 at 08:30:00 – red (rank 0) goes before ordinary (rank 2)"
expect explain fred ahead_next=A002 ahead_next.0.why=overdue text.en~"whoever has stood 1:00:00 goes before every rank"
call 2 current=complete → ben
call 1 current=complete → fred
call 2 current=complete → eva
call 1 current=complete → nobody none_waiting
