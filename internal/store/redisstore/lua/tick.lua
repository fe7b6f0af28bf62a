-- Write down that the clock stepped, before a read tells the time. The next
-- commit logs the steps.
-- KEYS: the partition's keys (meta.lua). ARGV[1], packed: {wall ms or
--   false, seen (clock.lua)}.
-- RETURNS a packed array: `ok`, now in half ms, server time, steps.

local try = cmsgpack.unpack(ARGV[1])
local m = meta(get(STATE, 'm'))
local unlogged = get(STATE, 's')
local steps = unlogged and cmsgpack.unpack(unlogged) or {}
for _, step in ipairs(tick(m, try.wall or micros(), try.seen)) do steps[#steps + 1] = step end
if #steps > 0 then put(STATE, 's', cmsgpack.pack(steps)) end
put(STATE, 'm', pack_meta(m))
flush(STATE)
return cmsgpack.pack({'ok', 2 * m.exact, m.t, m.steps})
