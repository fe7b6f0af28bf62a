-- Create a partition, all its keys at once, so that a slot that moves never
-- waits for one that does not exist; or say what it is.
-- KEYS: the partition's keys (meta.lua). ARGV[1]: the epoch of a new one;
--   ARGV[2]: the format; ARGV[3]: how many partitions there are; ARGV[4]: wall
--   ms or "".
-- RETURNS a packed array: format, partitions, epoch, arrival, call, event, now,
--   server time, steps.

local t = tonumber(ARGV[4]) or micros()
local packed = get(STATE, 'm')
if not packed then
  local m = meta()
  m.epoch, m.t, m.exact = tonumber(ARGV[1]), t, t
  redis.call('HSET', KEYS[STATE], 'm', pack_meta(m), 'f', ARGV[2], 'P', ARGV[3])
  for _, k in ipairs({LIVE, ENDED, ARCHIVE, DOCS, OPS, OPS + 1, MARKS}) do redis.call('HSET', KEYS[k], '', '') end
  for _, k in ipairs({LINES, DUE, BUCKETS}) do redis.call('ZADD', KEYS[k], k == LINES and 0 or 'inf', '\255~') end
  redis.call('XADD', KEYS[LOG], '0-1', 'e', '')
  redis.call('RPUSH', KEYS[OLDEST], '')
  packed = pack_meta(m)
end
local m = meta(packed)
return cmsgpack.pack({get(STATE, 'f'), get(STATE, 'P'), m.epoch, m.arrival, m.call, m.event, 2 * m.exact, t, m.steps})
