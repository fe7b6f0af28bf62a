-- Raise a partition's numbers to what a process has seen of them, when the
-- server has lost commits; a new epoch then ends all that goes on.
-- KEYS: the partition's keys (meta.lua). ARGV[1], packed: epoch, arrival, call,
--   event: the highest that the process saw; series (array of {field, day,
--   number, lost}: the highest, and those whose tokens are gone); slots (array
--   of {name, call}: the last call of each that was answered); events, joins,
--   calls (lost, and their tokens are there); format, partitions, wall or false.
-- RETURNS a packed array: epoch, event, time of the last commit in ms, and what
--   was lost now: 0 or 1, events, joins, numbers burned, numbers repeated, calls
--   repeated. Field L of the state has the sums of those, u the numbers of a
--   series that were burned last.

local seen = cmsgpack.unpack(ARGV[1])
local packed = get(STATE, 'm')
local m = packed and meta(packed)
if not m then
  m = found(seen.epoch, seen.format, seen.partitions, seen.wall or micros())
  cells[STATE] = {}
end
local events = math.max(seen.event - m.event, 0)
local behind = not packed or events > 0 or m.arrival < seen.arrival or m.call < seen.call
for _, s in ipairs(seen.slots) do
  if tonumber(get(STATE, 'q' .. s[1]) or 0) < s[2] then
    behind = true
    put(STATE, 'q' .. s[1], number(s[2]))
    put(STATE, 'r' .. s[1], false)
  end
end
local burned, repeated = 0, 0
for _, s in ipairs(seen.series) do
  local have, last = get(STATE, s[1]), get(STATE, 'u' .. s[1])
  local day, n, from, to = 0, 0, 0, 0
  if have then day, n = struct.unpack('>i4I6', have) end
  if last then from, to = struct.unpack('>I6I6', last) end
  if day ~= s[2] then n = 0 end
  for _, gone in ipairs(s[4]) do
    if day > s[2] or gone <= n and (gone <= from or gone > to) then repeated = repeated + 1 end
  end
  if day < s[2] or day == s[2] and n < s[3] then
    behind, burned = true, burned + s[3] - n
    put(STATE, s[1], struct.pack('>i4I6', s[2], s[3]))
    put(STATE, 'u' .. s[1], struct.pack('>I6I6', n, s[3]))
  end
end
if not behind then return cmsgpack.pack({m.epoch, m.event, m.now, 0, 0, 0, 0, 0, 0}) end
local lost = {1, math.max(events, seen.events), seen.joins, burned, repeated, seen.calls}
m.epoch = math.max(m.epoch, seen.epoch) + 1
m.arrival, m.call, m.event = math.max(m.arrival, seen.arrival), math.max(m.call, seen.call), math.max(m.event, seen.event)
note(m, struct.pack('>BI6I6I6I6I6I6', 4, m.epoch, unpack(lost, 2)))
local SUMS = '>I6I6I6I6I6I6'
local sums = {struct.unpack(SUMS, get(STATE, 'L') or string.rep('\0', 36))}
for i, n in ipairs(lost) do sums[i] = sums[i] + n end
put(STATE, 'L', struct.pack(SUMS, unpack(sums, 1, 6)))
put(STATE, 'm', pack_meta(m))
flush(STATE)
flush_log(m)
return cmsgpack.pack({m.epoch, m.event, m.now, unpack(lost)})
