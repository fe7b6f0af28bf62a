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
expect explain vip state=calling passed=2 text.en~"it passed 2 with an earlier place" text.zh-CN~"先于 2 个次序更早的号"
# Then, and for each of those who were passed, with the numbers of that moment.
expect explain vip compared.0.number=A002 compared.0.counts_seconds=840 compared.1.number=A003 compared.1.counts_seconds=600 compared.2.number=A001 compared.2.counts_seconds=720
expect explain ann passed_by=A002 passed_by_whole=true passed_by.0.why=factor passed_by.0.counter=1
expect explain ann passed_by.0.age_seconds=420 passed_by.0.counts_seconds=840 passed_by.0.own_counts_seconds=720
expect explain ann text.en~"Passed by A002 at 09:12:00 – its 7:00 at factor 0.5 count 14:00; here 12:00 at factor 1 count 12:00"
expect explain ann text.zh-CN~"09:12:00 被 A002 越过：其 7:00（系数 0.5）计为 14:00；本号 12:00（系数 1）计为 12:00"
expect explain old passed_by=none
call 1 current=complete → ann
expect explain ann passed=0 text.en~"nobody had an earlier place"
