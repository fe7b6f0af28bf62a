# Where nobody may wait longer than an hour, they are asked first, and go when
# they do not answer.

site hall
queue main
  expire_waiting_seconds: 3600
  ask: {grace_seconds: 60}

at 09:00
join ann → A001
at 10:00
expect ann waiting actions=confirm,defer,cancel
at 10:01
expect ann abandoned reason=no_answer
