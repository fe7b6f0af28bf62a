-- The archive of tokens whose stay is over.

-- archive takes an ended record out of everything but the archive, which keeps
-- the KEPT that came last.
local KEPT = 100000
local gone = {}
local function archive(id, h)
  departed(h, id)
  reindex(h, {flags = 0, due = 0, business = '', counter = '', person = false}, id)
  put(h.from, id, false)
  h.version = h.version + 1
  h.rec = pack_head(h) .. sub(h.rec, h.tail)
  gone[#gone + 1] = {id, h.rec}
  return h
end

local function flush_archive()
  for _, x in ipairs(gone) do
    redis.call('HSET', KEYS[ARCHIVE], x[1], x[2])
    if redis.call('RPUSH', KEYS[OLDEST], x[1]) > KEPT then
      redis.call('HDEL', KEYS[ARCHIVE], redis.call('LPOP', KEYS[OLDEST]))
    end
  end
end
