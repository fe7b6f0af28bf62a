-- attempt judges one batch: first everything is read and checked, then carry_out
-- changes cells, which cannot fail. It returns the batch's answer: what carry_out
-- says, or `replay` note, picked, ids, event; `reused`; `refused` i, have (an
-- expectation); `doc` i, version; `token` i, version; `holder` i, id; `series` i;
-- `wrong` text.

-- lines_of are the lines of a pick, as its counter sees them.
local sights_
local function lines_of(p)
  local found = {}
  for i, n in ipairs(p[P_LINES]) do
    found[i] = sights_[n]
    found[i].bound = '@' .. p[P_COUNTER]
  end
  return found
end

local NONE = {}
local function attempt(b, m)
  local again = replayed(b[B_OP], m.now)
  if again then
    if again[1] == 'replay' then again[5] = m.event end
    return again
  end
  local expected, docs = b[B_EXPECT], b[B_DOCS]
  for i = 1, #expected do
    local x = shared[expected[i]]
    local have = not x.held and expect(x, m.now)
    if have then return {'refused', i, have} end
  end
  for i = 1, #docs do
    local d = docs[i]
    local have = version('v' .. d.field)
    if have ~= d.expect then return {'doc', i, have} end
  end
  local olds, refusal = old_records(b[B_TOKENS])
  refusal = refusal or taken(b[B_TOKENS])
  if refusal then return refusal end
  local why = wrong(b[B_TOKENS], olds, m.arrival)
  if why then return {'wrong', why} end
  local p = b[B_PICK]
  local choices, heads, specs = NONE, NONE, NONE
  if p then
    heads, specs = {}, {}
    local exclude = p[P_EXCLUDE] and find(p[P_EXCLUDE])
    local sights = lines_of(p)
    choices = pick(m.now, p[P_MODE], sights, p[P_MAX], exclude and has(string.byte(exclude, 5), IN_LANE) and head(exclude).seq or 0)
    for i, c in ipairs(choices) do
      specs[i] = sights[c.spec]
      heads[i], why = take(c, b)
      if why then return {'wrong', why} end
    end
  end
  refusal = numbered(b[B_TOKENS])
  if refusal then return refusal end
  return carry_out(b, olds, choices, specs, heads, m)
end
