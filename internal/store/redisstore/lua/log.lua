-- The log: one stream entry a group. An entry begins with the time and the
-- number of its first event; log.go reads it.

local entries, first = {}, nil

local function note(m, packed)
  m.event = m.event + 1
  first = first or m.event
  entries[#entries + 1] = packed
end

-- jot notes an event in two parts, which are put together at the end.
local function jot(m, begin, ev)
  note(m, begin)
  entries[#entries + 1] = ev
end

local function log_step(m, step)
  local by, did = number(step[1]), step[2]
  note(m, struct.pack('>BBc0Bc0', 3, #by, by, #did, did))
end

local function log_event(m, ev, h)
  if not h then return note(m, struct.pack('>BI4c0', 0, #ev, ev)) end
  note(m, struct.pack('>BI5I6I4c0', 1, h.arrival, h.number, #ev, ev))
end

local function log_call(m, ev, h, id)
  note(m, struct.pack('>BI5I6BI4Bc0Bc0Bc0I4c0', 2, h.arrival, h.number, h.width, h.version, #id, id,
    #h.prefix, h.prefix, #h.queue, h.queue, #ev, ev))
end

local KEEP_EVENTS = 100000
local function flush_log(m)
  if not first then return end
  local id = number(m.event) .. '-0'
  redis.call('XADD', KEYS[LOG], id, 'e', struct.pack('>I6I6', m.now, first) .. table.concat(entries))
  if m.event % 4096 <= m.event - first and m.event > KEEP_EVENTS then
    redis.call('XTRIM', KEYS[LOG], 'MINID', number(m.event - KEEP_EVENTS))
  end
  redis.call(PUBLISH, KEYS[HINT], struct.pack('>I6I6I6I6', m.epoch, m.arrival, m.call, m.event) .. (m.given or ''))
end
