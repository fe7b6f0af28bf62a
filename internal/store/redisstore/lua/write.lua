-- write carries out what a judged batch does to cells; it cannot fail.

-- written completes one record that the batch gives, and its index entries.
local function written(w, h, m)
  local new = {
    version = w.version, flags = w.flags, state = w.state, now = m.now, place = place(w, m.now),
    arrival = w.arrival or 0, seq = w.seq or 0, call = w.call or 0, number = w.number or 0, due = resolve(w.due or 0, m.now),
    line = w.line, lane = w.lane, counter = w.counter, business = w.business, prefix = w.prefix, width = w.width,
  }
  if not h then
    m.arrival = m.arrival + 1
    new.arrival, new.seq = m.arrival, m.arrival
  elseif new.seq == 0 then
    m.arrival = m.arrival + 1
    new.seq = m.arrival
  end
  if new.call < 0 then
    m.call = m.call + 1
    new.call = m.call
  end
  new.rec = pack_head(new) .. w.rest
  return new
end

-- place_record puts a record where its flags say; h is what it replaces and is
-- out of the indexes already, or false.
local function place_record(id, h, new)
  if not h then
    arrived(new, id)
  elseif has(h.flags, HAS_ENDED) ~= has(new.flags, HAS_ENDED) then
    put(h.from, id, false)
    departed(h, id)
    arrived(new, id)
  end
  index(new, id)
  put(has(new.flags, HAS_ENDED) and ENDED or LIVE, id, new.rec)
end

local function move(id, h, new)
  unindex(h, id)
  place_record(id, h, new)
end

-- archive takes an ended record out of everything but the archive, which keeps
-- the KEPT that came last.
local KEPT = 100000
local gone = {}
local function archive(id, h)
  departed(h, id)
  put(h.from, id, false)
  h.version = h.version + 1
  h.rec = pack_head(h) .. string.sub(h.rec, h.tail)
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

local function doc(d, now)
  if d.delete then
    put(STATE, 'v' .. d.field, false)
    put(DOCS, d.field, false)
    pending[DUE]['\0' .. d.field] = false
    return
  end
  local due = resolve(d.due, now)
  put(STATE, 'v' .. d.field, number(d.expect + 1))
  put(DOCS, d.field, struct.pack('>I6I6', d.expect + 1, due) .. d.body)
  pending[DUE]['\0' .. d.field] = due > 0 and number(due)
end

-- add counts on; a later day begins at 0, an earlier one is over.
local function add(field, day, n)
  local have, sum = daily(field)
  if day < have then return end
  put(STATE, field, struct.pack('>i4I6', day, (have == day and sum or 0) + n))
end

local DAY = 86400000

-- remember keeps an operation with the ids that it wrote and picked.
local function remember(b, ids, picked, now)
  local op = b.op
  local expires = now + op[3]
  local k = OPS + math.floor(expires / DAY) % 2
  put(k, op[1], struct.pack('>I6c16BBc0I2c0', expires, op[2], picked, #op[4], op[4], #ids, ids))
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
