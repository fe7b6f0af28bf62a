-- Answer several asks from one snapshot of a partition.
-- KEYS: the partition's keys (meta.lua). ARGV[1], packed by view.go: epoch,
--   event (the highest number its process has seen), slots (commit.lua), fields
--   (cells to read), rules (that asks name by number), asks (ask.go). ARGV[2], packed: {wall ms or false, seen
--   (clock.lua)}.
-- RETURNS a packed array: `ok`, now in half ms, server time, steps, whether the
--   clock stepped (then that must be written down by tick.lua, and the time asked
--   again), an answer an ask; or `epoch` e, `behind` event (the server lost commits).

local asked, try = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[2])
fetch(asked.fields)
local m = meta(get(STATE, 'm'))
if asked.epoch ~= m.epoch then return cmsgpack.pack({'epoch', m.epoch}) end
if asked.event > m.event or forgot(asked.slots) then return cmsgpack.pack({'behind', m.event}) end
local _, stepped = tick(m, try.wall or micros(), try.seen)
rules = asked.rules or rules
local answers = {}
for i, ask in ipairs(asked.asks) do
  local answer = {}
  for j, part in ipairs(ask) do answer[j] = kinds[part[1]](part[2], m.now) end
  answers[i] = answer
end
return cmsgpack.pack({'ok', 2 * m.exact, m.t, m.steps, stepped, answers})
