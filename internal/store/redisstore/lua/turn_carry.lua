-- What a turn (turn.lua) does to the token that it ends, and to the one it calls.

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
  local f, counter, queue, ev = turn_.found, ts.counters[j], k.queue, ts.calls[j]
  local id, rec, version = f.id, f.rec, f.version + 1
  m.call = m.call + 1
  local flags = band(f.flags, HAS_PERSON + IS_HOLDER + AS_STAMPED) + AT_COUNTER + IS_BUSY
  count(k.line, k[T_WAITING], -1)
  count(k.line, k[T_PICKED], 1)
  pending[LINES][f.member] = false
  lane_loses(f.lane, f.member)
  if k.call_due ~= f.due then pending[DUE][id] = k.call_score end
  put_once(STATE, ts.cells[4 * j - 2], char(#id + 1) .. '\1' .. id)
  local label = sub(rec, f.prefix, f.prefix + f.label - 1)
  jot(m, pack('>BI5I6BI4Bc0Bc0Bc0I4', 2, f.arrival, f.number, string.byte(rec, f.at + 4), version, #id, id, #label, label, #queue, queue, #ev), ev)
  return pack(HEAD, version, flags, k[T_PICKED], f.now, f.place, f.arrival, f.seq, m.call, f.number, k.call_due)
    .. sub(rec, f.at, f.seat - 1) .. char(#counter) .. counter .. f.patch .. f.point .. sub(rec, f.seat + 3)
end

-- carry_out is the answer of a turn that was done: `turn`, the number of the last
-- event, id and record of the token that was called; nil where none could be.
function turn_.carry_out(k, ts, j, rec, m)
  local choice = turn_.look(k, ts.counters[j], m.now)
  if not choice then return end
  local next_ = turn_.found.id
  if choice.debts then owe({choice}, {k.sight}) end
  local gone = ends(k, ts, j, ts.ids[j], rec, m)
  local new = calls(k, ts, j, m)
  put_once(LIVE, next_, new)
  if k[T_KEEP] > 0 then
    local ids = gone .. entry(next_)
    put_once(k.kept_in, ts.ops[j], k.expires .. ts.memories[j] .. pack('>BI2', 1, #ids) .. ids)
  end
  return {'turn', m.event, next_, new}
end
