-- after_view: what is known of a class for `after`; after.go makes an index of it.

-- lane_after is the beginning of one lane without the member that moves, itself
-- at the point `moved`: {class, group, k, its first members as place ‖ seq, more}.
-- more is false where these are all, else {how many stand up to the place of the
-- last of these, the first one behind that place or '', then of each of places
-- how many are before it}.
local function lane_after(l, many, moved, places)
  local prefix = l.prefix
  local own = string.sub(moved, 1, #prefix) == prefix
  local limit = many + (own and 1 or 0)
  local function keys(min, count)
    local got, found = zrange(min, '(' .. prefix .. '\255', 0, count), {}
    for _, m in ipairs(got) do
      if string.sub(m, 1, #moved) ~= moved then found[#found + 1] = string.sub(m, #prefix + 1, #prefix + 12) end
    end
    return found, #got == count
  end
  local first, cut = keys('[' .. prefix, limit)
  if not cut or #first == 0 then return {l.class, l.group, l.k, first, false} end
  local last = unpack_('>I6', first[#first])
  local stands = own and zcount('[' .. moved, '(' .. moved .. '\255\255')
  local function before(at)
    local n = below(prefix, at)
    if own and unpack_('>I6', moved, #prefix + 1) < at then n = n - stands end
    return n
  end
  local more = {before(last + 1), keys('[' .. prefix .. pack('>I6', last + 1), own and 2 or 1)[1] or ''}
  for i, at in ipairs(places) do more[i + 2] = before(at) end
  return {l.class, l.group, l.k, first, more}
end

-- x is {line, class, how many members of each lane, the member that moves as lane
-- ‖ place ‖ seq} and in strict and ratio its group and the number of the rule.
-- Places are those that split the tiers of strict: below them stand who is not in
-- the future, and who is overdue.
local function after_view(x, now)
  local rule, places, found = rules[x[6]], {}, {}
  if rule and rule.escalate then places = {now + 1, now - rule.escalate + 1} end
  local all = lanes(x[1], sight({x[2]}, x[2]))
  for i, l in ipairs(all) do found[i] = lane_after(l, x[3], x[1] .. x[4], places) end
  local owed = {}
  if rule and rule.owed then
    for group, n in pairs(debts(rule, all, {class = x[2], group = x[5]})[x[2]]) do
      owed[#owed + 1], owed[#owed + 2] = group, n
    end
  end
  return {found, owed}
end
