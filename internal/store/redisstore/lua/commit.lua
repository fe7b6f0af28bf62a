-- Judge a group of batches and write what those that stand do.
-- KEYS: the partition's keys (meta.lua). ARGV[1]: the group, packed by batch.go:
--   epoch, event (the highest number its process has seen), process, call (the
--   process's slot and number of this call), slots (array of {name, the last call
--   that was answered} of the process), fields (cells to read), batches.
-- ARGV[2]: what differs when it is tried again: {wall ms or false, seen (clock.lua)}.
-- RETURNS a packed array: `ok`, now in half ms, server time, steps and an answer a batch; or `epoch` e,
--   `behind` event (the server lost commits), `stale` (a later call came first).

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
    choices = pick(m.now, p[P_MODE], sights, p[P_MAX], exclude and head(exclude).seq or 0)
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

local group, try = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[2])
for k, fields in pairs(group.fields) do prefetch(k, fields) end
local m = meta(get(STATE, 'm'))
if group.epoch ~= m.epoch then return cmsgpack.pack({'epoch', m.epoch}) end
if group.event > m.event or forgot(group.slots) then return cmsgpack.pack({'behind', m.event}) end
local last = tonumber(get(STATE, 'q' .. group.process) or 0)
if last == group.call then
  -- Written again, so that a WAIT behind this call covers what it did.
  redis.call('HSET', KEYS[STATE], 'q' .. group.process, number(last))
  return get(STATE, 'r' .. group.process)
end
if last > group.call then return cmsgpack.pack({'stale'}) end

local t = try.wall or micros()
local unlogged = get(STATE, 's')
if unlogged then
  for _, step in ipairs(cmsgpack.unpack(unlogged)) do log_step(m, step) end
  put(STATE, 's', false)
end
for _, step in ipairs(tick(m, t, try.seen)) do log_step(m, step) end
shared, asks, sights_ = group.shared, group.asks, group.lines
for _, b in ipairs(group.batches) do
  if b[B_PICK] then appetite = appetite + b[B_PICK][P_MAX] end
end
appetite = math.min(appetite + 2, 128)
local answers = {}
for i, b in ipairs(group.batches) do answers[i] = attempt(b, m) end
local reply = cmsgpack.pack({'ok', 2 * m.exact, m.t, m.steps, answers})
put(STATE, 'q' .. group.process, number(group.call))
put(STATE, 'r' .. group.process, reply)
put_counts()
m.given = put_daily()
put_arrivals()
keep.old(m)
flush_ops(m)
put(STATE, 'm', pack_meta(m))
for _, k in ipairs({STATE, LIVE, ENDED, DOCS, MARKS}) do flush(k) end
for _, k in ipairs({LINES, DUE, BUCKETS}) do settle(k) end
flush_archive()
flush_log(m)
return reply
