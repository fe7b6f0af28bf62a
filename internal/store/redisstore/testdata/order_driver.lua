-- order_driver: asks the order fragments in front of it about one case.
-- KEYS[1] the zset of lines. ARGV, each count followed by what it counts:
--   now; specs: line, discipline, number of classes (-1 = all) and classes,
--   bound, rule (packed, or ""); what is owed: names and numbers in turn; members
--   to add first; asks: name and arguments as read below.
-- RETURNS for each ask {zranges, zcounts, members read, answer}, all numbers
-- as decimal text: a reply would cut them to integers.

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function num() return tonumber(arg()) end
local function text(n) return string.format('%.0f', n) end

local now, specs = num(), {}
for i = 1, num() do
  local spec = {line = arg(), discipline = arg(), classes = false}
  local n = num()
  if n >= 0 then
    spec.classes = {}
    for j = 1, n do spec.classes[j] = arg() end
  end
  spec.bound = arg()
  local rule = arg()
  if rule ~= '' then spec.rule, rules[i] = i, cmsgpack.unpack(rule) end
  specs[i] = spec
end
for _ = 1, num() / 2 do
  local name = arg()
  owed[name] = num()
end
for _ = 1, num() do redis.call('ZADD', KEYS[1], 0, arg()) end

local asks = {}

function asks.pick(mode, n, exclude)
  local answer = {}
  for i, c in ipairs(pick(now, mode, specs, tonumber(n), tonumber(exclude))) do
    local debts = {}
    for group, n in pairs(c.debts or {}) do debts[#debts + 1] = group .. '\0' .. text(n) end
    answer[i] = {text(c.spec), c.member, text(c.place), text(c.seq), c.id, text(c.passed), c.compared, debts}
  end
  return answer
end

local function ranked(spec, group)
  spec = specs[tonumber(spec)]
  spec.group = group
  return spec
end

function asks.rank(spec, class, group, k, place, seq)
  return {text(rank(now, ranked(spec, group), class, tonumber(k), tonumber(place), tonumber(seq)))}
end

-- found: the same rank, from lanes that are known already.
function asks.found(spec, class, group, k, place, seq)
  local found = rivals(specs[tonumber(spec)], class)
  asked = {0, 0, 0}
  return {text(rank(now, ranked(spec, group), class, tonumber(k), tonumber(place), tonumber(seq), found))}
end

function asks.lanes(spec)
  local answer = {}
  for i, l in ipairs(lanes(specs[tonumber(spec)].line)) do
    answer[i] = {l.prefix, l.class, l.group, text(l.k), l.member, text(l.place), text(l.seq)}
  end
  return answer
end

local answers = {}
for i = 1, num() do
  local name, args = arg(), {}
  for j = 1, num() do args[j] = arg() end
  asked = {0, 0, 0}
  local answer = asks[name](unpack(args))
  answers[i] = {text(asked[1]), text(asked[2]), text(asked[3]), answer}
end
return answers
