# HTML and letters that turn text around in a name are text, or gone: no board
# can be made to say something else.

site hall
queue main
  fields:
    - {name: name, required: true, max: 20}
    - {name: age, type: number}

join ann name="<b>Ann</b>" attrs={"age":70} → A001
expect ann name="<b>Ann</b>" ext_attrs.age=70
join bob name="B\u202eob\u0007" → A002
expect bob name=Bob
join cid → refused invalid field=name
join cid name="a name of far more than twenty letters" → refused invalid field=name
join cid name=Cid attrs={"age":"old"} → refused invalid field=age
