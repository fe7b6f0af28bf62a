# A newspaper complains: A001 was passed by A002. Anybody who works there can
# ask why, before and after, and gets a true reason.

site hall
queue main
  groups:
    VIP: {factor: 0.5}
    elderly: {factor: 0.8, head_start_seconds: 120}
counter 1
  queues: [main]

at 09:00
join ann → A001
at 09:05
join vip group=VIP → A002
at 09:06
join old group=elderly → A003
at 09:12
expect explain ann rank=1 priority_group=ordinary factor=1 ordering=aging text.en~"1 ahead"
expect explain old factor=0.8 head_start_seconds=120 text.en~"counts 1.25 times; head start 120 s"
call 1 → vip
expect explain vip state=calling passed=2 text.en~"it passed 2 with an earlier place, because its wait counted for more" text.zh-CN~"因为其等待计得更快"
call 1 current=complete → ann
expect explain ann passed=0 text.en~"nobody had an earlier place"
