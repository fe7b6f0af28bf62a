# A rule that cannot be read, or that names a class nobody declared, is refused
# with its place. The queue goes on as it was.

site hall
queue main
  queue_rules: [{name: elderly, condition: "ext_attrs.age >= 70", action: "-0.2"}]
change queue main → refused invalid field="queue_rules[0].condition"
  queue_rules: [{name: elderly, condition: "age >= 70", action: "-0.2"}]
change queue main → refused invalid field="queue_rules[1].class"
  queue_rules: [{name: a, condition: "true", action: "-0.1"}, {name: b, condition: "true", class: large}]
change queue main → refused invalid field="queue_rules[0].action"
  queue_rules: [{name: a, condition: "true", action: "0.7"}]
change queue main → refused invalid field="queue_rules[0].condition"
  queue_rules: [{name: a, condition: 'missed_within("40d")', action: "+0.7"}]
expect queue main version=1
join ann attrs={"age":71} → A001
expect ann factor=0.8
