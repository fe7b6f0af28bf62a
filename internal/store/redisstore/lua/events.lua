-- Entries of the log after an event.
-- KEYS: the partition's keys (meta.lua). ARGV[1]: number of the event;
--   ARGV[2]: how many entries at most.
-- RETURNS a packed array: `ok` epoch, number of the last event, the entries.

local m = meta(get(STATE, 'm'))
local found, entries = {}, {}
if tonumber(ARGV[1]) < m.event then
  found = redis.call('XRANGE', KEYS[LOG], '(' .. ARGV[1] .. '-1', '+', 'COUNT', ARGV[2])
end
for i, x in ipairs(found) do entries[i] = x[2][2] end
return cmsgpack.pack({'ok', m.epoch, m.event, entries})
