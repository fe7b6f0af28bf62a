# The rules that a product manager wrote: members and elders wait faster, who
# missed a call slower, nobody joins twice in half an hour, big parties go to big
# tables. What a rule needs and nobody said makes it not match.

begin 2026-03-06 18:00
site inn
  time_zone: Asia/Shanghai
queue main
  classes: {small: {}, large: {prefix: L}}
  default_class: small
  missed: {policy: remove}
  groups: {VIP: {factor: 0.5, head_start_seconds: 60}}
  queue_rules:
    - {name: vip_priority, condition: "ext_attrs.vip_level >= 2", action: "-0.3"}
    - {name: elderly_priority, condition: "ext_attrs.age >= 70", action: "-0.2"}
    - {name: recent_missed_penalty, condition: 'missed_within("1h")', action: "+0.5"}
    - {name: once_per_half_hour, condition: 'joined_within("30m")', reject: once_per_half_hour}
    - {name: big_table, condition: "party_size > 4", class: large, head_start_seconds: 0}
counter 1
  queues: [main]

join ann → A001 rank=0
after 1m
join bob attrs={"vip_level":2} → A002 rank=1
join cem attrs={"age":"seventy"} → A003 rank=2
join dan attrs={"vip_level":1,"age":70} → A004 rank=3
join eva group=VIP attrs={"vip_level":3,"age":80} → A005 rank=0
join fay group=VIP party=6 → L001 rank=5
expect ann factor=1 class=small
expect bob factor=0.7
expect cem factor=1
expect dan factor=0.8
expect eva factor=0.25 class=small
expect explain eva clipped=true head_start_seconds=60
expect fay factor=0.5 class=large
expect explain fay clipped=false head_start_seconds=0
# Of nine minutes bob's count as much as almost thirteen of ann's.
at 18:10
expect line main eva fay bob dan ann cem
call 1 → eva
complete eva

# Who joins in the half hour is told how long to wait, inside the line first.
join gil business=7 → A006
join gil2 business=7 → refused exists already_in_line
cancel gil
at 18:20
join gil3 business=7 → refused too_many once_per_half_hour retry_after_seconds=1200
at 18:40
join gil4 business=7 → A007
expect gil4 factor=1
call 1 gil4 reason=test → gil4
miss gil4 → abandoned
at 19:10
join gil5 business=7 → A008
expect gil5 factor=1.5
cancel gil5
at 19:41
join gil6 business=7 → A009
expect gil6 factor=1
