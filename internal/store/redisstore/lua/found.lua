-- found begins a partition: all its keys at once, so that a slot that moves
-- never waits for one that does not exist. Times in ms.

local function found(epoch, format, parts, now)
  local m = meta()
  m.epoch, m.t, m.exact, m.now = epoch, now, now, math.floor(now)
  redis.call('HSET', KEYS[STATE], 'm', pack_meta(m), 'f', format, 'P', parts)
  for _, k in ipairs({LIVE, ENDED, ARCHIVE, DOCS, OPS, OPS + 1, MARKS}) do redis.call('HSET', KEYS[k], '', '') end
  for _, k in ipairs({LINES, DUE, BUCKETS}) do redis.call('ZADD', KEYS[k], k == LINES and 0 or 'inf', '\255~') end
  redis.call('XADD', KEYS[LOG], '0-1', 'e', '')
  redis.call('RPUSH', KEYS[OLDEST], '')
  return m
end

-- enroll writes down that a process lives, for sweep.lua: `w` is a list of
-- process (6 bytes) and the day on which it was last heard of (4 bytes). Without
-- a day it is taken out.
local function enroll(process, day)
  local all, others = redis.call('HGET', KEYS[STATE], 'w') or '', {}
  for at = 1, #all - 9, 10 do
    if string.sub(all, at, at + 5) ~= process then others[#others + 1] = string.sub(all, at, at + 9) end
  end
  if day then others[#others + 1] = process .. struct.pack('>I4', day) end
  redis.call('HSET', KEYS[STATE], 'w', table.concat(others))
end
