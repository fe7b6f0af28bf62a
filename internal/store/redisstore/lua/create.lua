-- Create a partition where there is none, or say what it is; and enroll the
-- process.
-- KEYS: the partition's keys (meta.lua). ARGV[1]: the epoch of a new one;
--   ARGV[2]: the format; ARGV[3]: how many partitions there are; ARGV[4]: wall
--   ms or ""; ARGV[5]: the process, 6 bytes.
-- RETURNS a packed array: format, partitions, epoch, arrival, call, event, now in
--   half ms, server time, steps.

local t = tonumber(ARGV[4]) or micros()
local packed = get(STATE, 'm')
local m = packed and meta(packed) or found(tonumber(ARGV[1]), ARGV[2], ARGV[3], t)
local format, parts = unpack(redis.call('HMGET', KEYS[STATE], 'f', 'P'))
if format == ARGV[2] then enroll(ARGV[5], math.floor(t / DAY)) end
return cmsgpack.pack({format, parts, m.epoch, m.arrival, m.call, m.event, 2 * m.exact, t, m.steps})
