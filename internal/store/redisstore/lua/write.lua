-- write carries out what a judged batch does to cells; it cannot fail.

-- moment is the group's time, packed.
local at, packed_at
local function moment(now)
  if at ~= now then at, packed_at = now, pack('>I6', now) end
  return packed_at
end

-- written completes one record that the batch gives.
local function written(w, h, m)
  local more, now = w[MORE], m.now
  local p, due = place(w, now), w[DUE_]
  if due > 0 then due = resolve(due, now) end
  local arrival, seq, call, no = more[ARRIVAL], more[SEQ], more[CALL], w.number or more[NUMBER]
  if not h then
    arrival = m.arrival + 1
    m.arrival, seq = arrival, arrival
  elseif seq == 0 then
    seq = m.arrival + 1
    m.arrival = seq
  end
  if call < 0 then
    call = m.call + 1
    m.call = call
  end
  return {
    flags = w[FLAGS], state = w[STATE_], place = p, arrival = arrival, seq = seq, call = call, number = no, due = due,
    line = w[LINE], lane = w[LANE], counter = w[COUNTER], business = w[BUSINESS], person = w[PERSON],
    rec = w[STAMP] .. moment(now) .. pack('>I6I5I5I5I6I6', p, arrival, seq, call, no, due) .. w[REST],
  }
end

-- move puts a record where its flags say, in place of h, or false.
local function move(id, h, new)
  local over = has(new.flags, HAS_ENDED)
  if not h then
    arrived(new, id)
    settle_in(new, id)
  else
    if has(h.flags, HAS_ENDED) ~= over then
      put(h.from or LIVE, id, false)
      departed(h, id)
      arrived(new, id)
    end
    reindex(h, new, id)
  end
  put_once(over and ENDED or LIVE, id, new.rec)
end

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

-- unsteady forgets what was checked of documents, for one changes.
local shared
local function unsteady()
  for i = 1, #shared do shared[i].held = nil end
end

local function doc(d, now)
  if d.delete then
    unsteady()
    put(STATE, 'v' .. d.field, false)
    put(DOCS, d.field, false)
    pending[DUE]['\0' .. d.field] = false
    return
  end
  local due = resolve(d.due, now)
  unsteady()
  put(STATE, 'v' .. d.field, number(d.expect + 1))
  put(DOCS, d.field, pack('>I6I6', d.expect + 1, due) .. d.body)
  pending[DUE]['\0' .. d.field] = due > 0 and number(due)
end

-- add counts on; a later day begins at 0, an earlier one is over.
local function add(field, day, n)
  local d = daily(field)
  if day < d[1] then return end
  d[1], d[2], d.changed = day, (d[1] == day and d[2] or 0) + n, true
end

local DAY = 86400000

-- remember keeps an operation with the ids that it wrote and picked.
local function remember(op, ids, picked, now)
  local expires = now + op[3]
  local k = OPS + math.floor(expires / DAY) % 2
  put_once(k, op[1], pack('>I6', expires) .. op[2] .. op[4] .. pack('>BI2', picked, #ids) .. ids)
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
