# The printer jams: the token exists, its ticket can be asked for again, and
# the same key prints the same number.

site hall
queue main

join ann key=kiosk-4711 → A001
expect ann waiting rank=0 number=A001
join ann key=kiosk-4711 → A001
expect queue main waiting=1
