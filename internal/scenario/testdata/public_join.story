# Without a key people may join as far as the queue lets them: with the fields
# that it names, never with a business id or a group. Others it refuses.

only http — what a caller without a key may do is the API's to say
site hall
queue main
  classes: {cash: {}, loan: {}}
  default_class: cash
  groups: {VIP: {factor: 0.5}}
  public_join: {fields: [name], classes: [cash]}
counter 1
  queues: [main]
queue staff
  prefix: S

join ann by=public name=Ann → A001 waiting
expect ann channel=web name=Ann class=cash
join bob by=public name=Bob phone="030 123" → refused forbidden public_join field=phone
join bob by=public group=VIP → refused forbidden public_join field=priority_group
join bob by=public business=7 → refused forbidden public_join field=business_id
join bob by=public class=loan → refused forbidden public_join field=class
join bob by=public queue=staff → refused unauthenticated
call 1 by=public → refused unauthenticated
expect queue main waiting=1 joins=1
