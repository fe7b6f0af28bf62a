-- The index of all lines, for order_*.lua: reads see what earlier batches of
-- the group have changed.

local function zrange(min, max, offset, count)
  settle(LINES)
  return redis.call('ZRANGEBYLEX', KEYS[LINES], min, max, 'LIMIT', offset, count)
end

local function zcount(min, max)
  settle(LINES)
  return redis.call('ZLEXCOUNT', KEYS[LINES], min, max)
end

-- zat is the i-th member of a lane, from 0.
local function zat(prefix, i)
  settle(LINES)
  i = i + redis.call('ZLEXCOUNT', KEYS[LINES], '-', '(' .. prefix)
  return redis.call('ZRANGE', KEYS[LINES], i, i)[1]
end
