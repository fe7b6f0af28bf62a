# Where the policy is keep, a missed person is called again only when somebody
# says so, and is forgotten after an hour.

site hall
queue main
  missed: {policy: keep, keep_seconds: 3600}
counter 1
  queues: [main]

at 09:00
join ann → A001
join bob → A002
join cid → A003
call 1 → ann
miss ann → missed
call 1 → bob
miss bob → missed
at 09:30
call 1 → cid
complete cid
call 1 → nobody only_absent
reinstate ann place=original → ann waiting place=09:00
call 1 → ann
at 10:00
expect bob abandoned reason=missed_too_long
reinstate bob → refused conflict state
