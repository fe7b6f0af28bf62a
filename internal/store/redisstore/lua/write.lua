-- What a judged batch does to its tokens. It cannot fail.

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
