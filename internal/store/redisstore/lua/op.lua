-- Remembered operations: what a repeat is answered from.

-- kept_in is the hash of operations that expire at a time.
local function kept_in(expires) return OPS + math.floor(expires / DAY) % 2 end

-- remember keeps an operation with the ids that it wrote and picked.
local function remember(op, ids, picked, now)
  local expires = now + op[3]
  put_once(kept_in(expires), op[1], pack('>I6', expires) .. op[2] .. op[4] .. pack('>BI2', picked, #ids) .. ids)
end

-- An operation lives in the hash of the day on which it expires; of two hashes
-- one is always of the day after, and empty when that day begins to be used.
local function flush_ops(m)
  local day = math.floor(m.now / DAY)
  if day ~= m.day then
    for d = math.max(m.day + 1, day - 1), day do
      local k = OPS + (d + 1) % 2
      redis.call('UNLINK', KEYS[k])
      redis.call('HSET', KEYS[k], '', '')
    end
    m.day = day
  end
  flush(OPS)
  flush(OPS + 1)
end
