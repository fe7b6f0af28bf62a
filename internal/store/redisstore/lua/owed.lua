-- owe writes what the classes of picked tokens owe after the pick, in ordering
-- ratio: the last choice of a class says it. Like other counts these never go
-- back to an earlier day. specs are the lines of the choices.

local function owe(choices, specs)
  local said = {}
  for i = #choices, 1, -1 do
    local c = choices[i]
    local rule = c.debts and rules[specs[i].rule]
    local class = rule and rule.owed .. c.class .. '\0'
    if class and not said[class] then
      said[class] = true
      for group, n in pairs(c.debts) do
        local field = class .. group
        local d, have = daily(field), on(field, rule.day)
        if rule.day >= d[1] and n ~= have then d[1], d[2], d.changed = rule.day, n, true end
      end
    end
  end
end
