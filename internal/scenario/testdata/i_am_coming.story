# Called, the holder says "I am coming" and gets five minutes to walk, once.

site hall
queue main
  call_timeout_seconds: 60
  arrive_seconds: 300
counter 1
  queues: [main]

at 09:00
join ann → A001
call 1 → ann call_deadline=09:01
expect ann actions=confirm,defer,cancel
at 09:00:30
confirm ann by=holder → calling call_deadline=09:05:30 actions=defer,cancel
at 09:05:29
expect ann calling
at 09:05:30
expect ann scheduled misses=1 reason=call_timeout
