-- order_rule: what the rule of a line says of its groups, and what these owe.
--
-- A fragment: it declares `rules`, `weight` and `debts` for the fragments after it.
-- NEEDS, from a fragment before it:
--   tallies(day, fields)  counts of that day, an array as long as fields
--
-- rules  the rules that specs name by number, of the disciplines that know
--   groups: {of = n by group, last = n of every other group}, and in
--     strict, where n is a rank: escalate = ms from which a member is overdue
--     ratio, where n is a stride: owed = what the names of its debts begin
--       with, day = the day that these belong to
-- weight(rule, group) → n.
-- debts(rule, lanes, own) → by class and group, what is owed by the groups of
--   the rule and of the lanes, and of own = {class, group} if it is given. All
--   of it is read in one command.

local rules = {}
local weight, debts
do
  local max, min = math.max, math.min

  function weight(rule, group) return rule.of[group] or rule.last end

  function debts(rule, lanes, own)
    local owed, names, fields = {}, {}, {}
    local function want(class, group)
      if owed[class][group] then return end
      owed[class][group] = 0
      names[#names + 1] = {class, group}
      fields[#fields + 1] = rule.owed .. class .. "\0" .. group
    end
    local function see(class, group)
      if not owed[class] then
        owed[class] = {}
        for name in pairs(rule.of) do want(class, name) end
      end
      want(class, group)
    end
    for i = 1, #lanes do see(lanes[i].class, lanes[i].group) end
    if own then see(own.class, own.group) end
    for i, n in ipairs(tallies(rule.day, fields)) do
      local class, group = names[i][1], names[i][2]
      -- It may have been made under other shares.
      owed[class][group] = min(max(n, 0), weight(rule, group))
    end
    return owed
  end
end
