-- Judge a group of batches and write what those that stand do.
-- KEYS: the partition's keys (meta.lua). ARGV[1], packed by
--   commit.go: epoch, event (the highest number its process has seen), process,
--   call (the process's slot and number of this call), slots (array of {name, the
--   last call that was answered} of the process), fields (cells to read), shared,
--   lines, asks, rules (expectations, lines of picks, ranks that batches refer to by
--   number, and rules that those two do), kinds, memories, rests, events (newcomer.lua),
--   turns (turn.lua), batches (batch.lua, or the number of a newcomer's kind, or
--   less than 0 that of a turn's). ARGV[2], packed, what differs when it is tried
--   again: {wall ms or false, seen (clock.lua)}.
-- RETURNS a packed array: `ok`, now in half ms, server time, steps and an answer a
--   batch (attempt.lua); or `epoch` e, `behind` event (the server lost commits),
--   `stale` (a later call came first).

local group, try = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[2])
local read = fetch(group.fields, #(group.rests or {}))
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
rules = group.rules or rules
local come, turn = group.kinds and newcomers(group, read), group.turns and turns(group.turns)
for _, b in ipairs(group.batches) do
  if type(b) == 'table' then appetite = appetite + (b[B_PICK] and b[B_PICK][P_MAX] or 0) elseif b < 0 then appetite = appetite + 1 end
end
appetite = math.min(appetite + 2, 128)
local answers = {}
for i, b in ipairs(group.batches) do
  if type(b) == 'table' then answers[i] = attempt(b, m) elseif b > 0 then answers[i] = come(b, m) else answers[i] = turn(-b, m) end
end
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
