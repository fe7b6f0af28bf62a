-- What a turn (turn.lua) does to the token that it ends, and to the one it calls.

-- found is the first member of a lane as the turn finds it: id, member, record, what
-- its head says, and where in it the rest, the prefix and the counter begin.
local found = {}

-- look finds it, and reports whether it is as who waits mostly is: at no counter,
-- and written since it was last called.
function turn_.look(k, o)
  local member, prefix, f = o.members[o.first], k.prefix, found
  local id = sub(member, #prefix + 13)
  local rec = get(LIVE, id)
  if not rec then return end
  local at, version, flags, state, now, place, arrival, seq, no, due = parts(rec)
  local p, s = unpack_('>I6I6', member, #prefix + 1)
  if not has(flags, IN_LANE) or state ~= k[T_WAITING] or p ~= place or s ~= seq then return end
  if unpack_('>I4', rec, at) ~= k.gen or find_(rec, k.names, at + 5, true) ~= at + 5 then return end
  local prefixed = at + 5 + #k.names
  local label = string.byte(rec, prefixed)
  local high, low = string.byte(rec, prefixed + 1 + label, prefixed + 2 + label)
  local seat = prefixed + 3 + label + 256 * high + low
  local counter, patched, more = string.byte(rec, seat, seat + 2)
  if counter + patched + more > 0 then return end
  f.id, f.member, f.rec, f.version, f.flags, f.now, f.place, f.arrival, f.seq = id, member, rec, version, flags, now, place, arrival, seq
  f.number, f.due, f.at, f.prefix, f.label, f.seat = no, due, at, prefixed + 1, label, seat
  return true
end

-- ends moves the token that is ended to those that are over.
local function ends(k, ts, j, id, rec, m)
  local person, listed = ts.cells[4 * j - 3], entry(id)
  local _, arrival, _, _, no = unpack_('>I6I5I5I5I6', rec, 13)
  local flags, state = string.byte(rec, 5, 6)
  if has(flags, HAS_PERSON) then put(STATE, person, false) end
  count(k[T_LINE], state, -1)
  count(k[T_LINE], k[T_STATE], 1)
  leaves('i', arrival, listed)
  arrives('j', arrival, listed)
  if k.score or unpack_('>I6', rec, 40) > 0 then pending[DUE][id] = k.score end
  put(LIVE, id, false)
  put_once(ENDED, id, k.begin .. ts.points[j] .. k.due_at .. ts.begins[j] .. ts.rests[j])
  local ev = ts.events[j]
  jot(m, pack('>BI5I6I4', 1, arrival, no, #ev), ev)
  return listed
end

-- calls is the record of who was found, after the call.
local function calls(k, ts, j, m)
  local f, prefix, counter, queue, ev = found, k.prefix, ts.counters[j], k.queue, ts.calls[j]
  local id, rec, version = f.id, f.rec, f.version + 1
  m.call = m.call + 1
  local flags = band(f.flags, HAS_PERSON + IS_HOLDER + AS_STAMPED) + AT_COUNTER + IS_BUSY
  count(k.sight.line, k[T_WAITING], -1)
  count(k.sight.line, k[T_PICKED], 1)
  pending[LINES][f.member] = false
  lane_loses(prefix, f.member)
  if k.call_due ~= f.due then pending[DUE][id] = k.call_score end
  put_once(STATE, ts.cells[4 * j - 2], char(#id + 1) .. '\1' .. id)
  local label = sub(rec, f.prefix, f.prefix + f.label - 1)
  jot(m, pack('>BI5I6BI4Bc0Bc0Bc0I4', 2, f.arrival, f.number, string.byte(rec, f.at + 4), version, #id, id, #label, label, #queue, queue, #ev), ev)
  return pack(HEAD, version, flags, k[T_PICKED], f.now, f.place, f.arrival, f.seq, m.call, f.number, k.call_due)
    .. sub(rec, f.at, f.seat - 1) .. char(#counter) .. counter .. k.patch .. sub(f.member, #prefix + 1, #prefix + 12) .. sub(rec, f.seat + 3)
end

-- carry_out is the answer of a turn that was done: `turn`, the number of the last
-- event, id and record of the token that was called; nil where none could be.
function turn_.carry_out(k, ts, j, rec, m)
  local o = turn_.front(k, m.now)
  if not o or not turn_.look(k, o) then return end
  local next_ = found.id
  local gone = ends(k, ts, j, ts.ids[j], rec, m)
  local new = calls(k, ts, j, m)
  put_once(LIVE, next_, new)
  if k[T_KEEP] > 0 then
    local ids = gone .. entry(next_)
    put_once(k.kept_in, ts.ops[j], k.expires .. ts.memories[j] .. pack('>BI2', 1, #ids) .. ids)
  end
  return {'turn', m.event, next_, new}
end
