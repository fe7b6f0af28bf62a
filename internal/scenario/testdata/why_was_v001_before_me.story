# "Why was V001 before me?" – in the words of the counter, for every ordering.

site hall
queue aging
  groups: {VIP: {factor: 0.5}, elderly: {head_start_seconds: 600}}
queue strict
  prefix: S
  ordering: strict
  groups: {VIP: {}}
queue ratio
  prefix: R
  ordering: ratio
  groups: {VIP: {share: 2}}
queue epoch
  prefix: E
  ordering: epoch
  groups: {VIP: {factor: 0.5}}
counter 1
  queues: [aging]
counter 2
  queues: [strict]
counter 3
  queues: [ratio]
counter 4
  queues: [epoch]

at 09:00
join a1 queue=aging → A001
join s1 queue=strict → S001
join r0 queue=ratio → R001
join r1 queue=ratio → R002
join e1 queue=epoch → E001
call 3 → r0
at 09:06
join a2 queue=aging group=VIP → A002
join a3 queue=aging group=elderly → A003
join s2 queue=strict group=VIP → S002
join r2 queue=ratio group=VIP → R003
join e2 queue=epoch group=VIP → E002
at 09:20
# Nobody who joins from now on can have passed a1; who came at 09:06 did.
expect explain a1 bound.share=none bound.before=09:10 bound.text.en~"joined at 09:10:00 or later nobody can have passed it so far"
call 1 → a2
call 2 → s2
call 3 current=complete → r2
call 4 → e2
expect explain a1 passed_by.0.why=factor text.en~"A002 at 09:20:00 – its 14:00 at factor 0.5 count 28:00; here 20:00 at factor 1 count 20:00"
expect explain a1 ahead_next=A003 ahead_next.0.why=head_start text.en~"with its head start of 10:00, its 24:00 at factor 1 count 24:00"
expect explain s1 passed_by.0.why=rank text.zh-CN~"VIP（等级 0）先于 ordinary（等级 1）"
expect explain r1 passed_by.0.why=share text.zh-CN~"按份额 VIP 2 比 ordinary 1，当时轮到 VIP"
expect explain e1 passed_by.0.why=day text.en~"its time of day counts 0.5 times, so its place, 04:33:00, is before 09:00:00"
# From the other side: what its call compared.
expect explain a2 compared=A002,A003 compared.0.called=true compared.0.counts_seconds=1680 compared.1.counts_seconds=1440
expect explain s2 compared=S002,S001 text.en~"S002 rank 0, 14:00; S001 rank 1, 20:00"
expect explain r2 text.en~"R003 of VIP, share 2; R002 of ordinary, share 1; what the groups owed by their shares decided"
# By hand is by hand, and everybody can see who did it and why.
at 09:21
join s3 queue=strict → S003
call 2 current=complete → s1
join s4 queue=strict → S004
complete s1
call 2 s4 reason="her child is ill" → s4
expect explain s3 passed_by=S004 passed_by.0.why=by_hand text.en~"an operator called it by hand (her child is ill)"
expect explain s4 by_hand=true text.en~"called by hand, out of turn (her child is ill)"
