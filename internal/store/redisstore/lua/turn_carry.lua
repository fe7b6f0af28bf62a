-- What a turn (turn.lua) does to the token that it ends, and to the one it calls.

-- taken is the first member of the lane as the turn will find and leave it: its id,
-- record, and where in that the prefix and the counter begin; nil where it is not as
-- who waits mostly is, at no counter, and written since it was last called.
function turn_.taken(k, o)
  local member, prefix = o.members[o.first], k.prefix
  local id = sub(member, #prefix + 13)
  local rec = get(LIVE, id)
  if not rec or find_(rec, k.names, 51, true) ~= 51 then return end
  local _, flags, state, _, place, _, seq, _, _, _, gen = unpack_('>I4BBI6I6I5I5I5I6I6I4', rec)
  local p, s = unpack_('>I6I6', member, #prefix + 1)
  if not has(flags, IN_LANE) or state ~= k[T_WAITING] or p ~= place or s ~= seq or gen ~= k.gen then return end
  local at = 51 + #k.names
  local label = string.byte(rec, at)
  local high, low = string.byte(rec, at + 1 + label, at + 2 + label)
  local seat = at + 3 + label + 256 * high + low
  local counter, patched, more = string.byte(rec, seat, seat + 2)
  if counter + patched + more == 0 then return id, rec, at, seat, member end
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

-- calls is the record of who is called, after it.
local function calls(k, ts, j, id, rec, at, seat, member, m)
  local version, flags, state, written_at, place, arrival, seq, _, no, due = unpack_(HEAD, rec)
  local prefix, counter, queue, ev = k.prefix, ts.counters[j], k.queue, ts.calls[j]
  m.call = m.call + 1
  flags = band(flags, HAS_PERSON + IS_HOLDER + AS_STAMPED) + AT_COUNTER + IS_BUSY
  count(k.sight.line, state, -1)
  count(k.sight.line, k[T_PICKED], 1)
  pending[LINES][member] = false
  lane_loses(prefix, member)
  if k.call_due ~= due then pending[DUE][id] = k.call_score end
  put_once(STATE, ts.cells[4 * j - 2], char(#id + 1) .. '\1' .. id)
  local label = sub(rec, at + 1, at + string.byte(rec, at))
  jot(m, pack('>BI5I6BI4Bc0Bc0Bc0I4', 2, arrival, no, string.byte(rec, 50), version + 1, #id, id, #label, label, #queue, queue, #ev), ev)
  return pack(HEAD, version + 1, flags, k[T_PICKED], written_at, place, arrival, seq, m.call, no, k.call_due)
    .. sub(rec, 46, seat - 1) .. char(#counter) .. counter .. k.patch .. sub(member, #prefix + 1, #prefix + 12) .. sub(rec, seat + 3)
end

-- carry_out is the answer of a turn that was done: `turn`, the number of the last
-- event, id and record of the token that was called; nil where none could be.
function turn_.carry_out(k, ts, j, rec, m)
  local o = turn_.front(k, m.now)
  if not o then return end
  local next_, found, at, seat, member = turn_.taken(k, o)
  if not next_ then return end
  local gone = ends(k, ts, j, ts.ids[j], rec, m)
  local new = calls(k, ts, j, next_, found, at, seat, member, m)
  put_once(LIVE, next_, new)
  if k[T_KEEP] > 0 then
    local ids = gone .. entry(next_)
    put_once(k.kept_in, ts.ops[j], k.expires .. ts.memories[j] .. pack('>BI2', 1, #ids) .. ids)
  end
  return {'turn', m.event, next_, new}
end
