# Missed, joined again meanwhile, then reinstated: one person, one place.

site hall
queue main
  missed: {policy: keep}
counter 1
  queues: [main]

join ann business=7 → A001
call 1 → ann
miss ann → missed
# Missed still counts as being in line: joining again finds the old token.
join again business=7 → refused exists already_in_line token.number=A001 token.state=missed
reinstate ann → waiting
reinstate ann → refused conflict state
expect line main ann
call 1 → ann
complete ann
join again business=7 → A002
undo ann → refused exists already_in_line token.number=A002
expect line main again
