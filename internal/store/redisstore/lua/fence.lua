-- Raise a partition's numbers to what a process has seen of them, when the
-- server has lost commits; a new epoch then ends all that goes on.
-- KEYS: the partition's keys (meta.lua). ARGV[1], packed: arrival, call, event,
--   series (array of {field, day, number}): the highest that the process saw.
-- RETURNS a packed array: epoch, event, how many events were lost, how many
--   numbers of series were raised.

local seen = cmsgpack.unpack(ARGV[1])
local m = meta(get(STATE, 'm'))
local lost, raised = math.max(seen.event - m.event, 0), 0
for _, s in ipairs(seen.series) do
  local packed = get(STATE, s[1])
  local day, n = 0, 0
  if packed then day, n = struct.unpack('>i4I6', packed) end
  if day < s[2] or day == s[2] and n < s[3] then
    raised = raised + (day == s[2] and s[3] - n or s[3])
    put(STATE, s[1], struct.pack('>i4I6', s[2], s[3]))
  end
end
local behind = lost > 0 or raised > 0 or m.arrival < seen.arrival or m.call < seen.call
if behind then
  m.epoch = m.epoch + 1
  m.arrival, m.call, m.event = math.max(m.arrival, seen.arrival), math.max(m.call, seen.call), math.max(m.event, seen.event)
  note(m, struct.pack('>BI4I4', 4, lost, raised))
  put(STATE, 'm', pack_meta(m))
  flush(STATE)
  flush_log(m)
end
return cmsgpack.pack({m.epoch, m.event, lost, raised})
