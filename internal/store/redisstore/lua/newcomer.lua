-- A newcomer is a batch that brings one new token which waits, and nothing that
-- other joins of its line do not bring too: nearly all joins are. It is judged and
-- answered as by attempt and carry_out, but in one go: what it has in common with
-- others is its kind (kind.lua), what is its own stands in columns, in their order.
--
-- Columns, by newcomer: the first cells that the group reads are of STATE its
-- business id, of LIVE its id, of OPS its operation ("" where it has none);
-- memories are the hash and the note of its operation as op.lua keeps them, rests
-- what follows the head of its record, events its event.

-- newcomers returns what judges the next newcomer, of a kind.
local function newcomers(group, read)
  local kinds_, memories, rests, events = group.kinds, group.memories, group.rests, group.events
  local people, ids, ops = group.fields[STATE], group.fields[LIVE], group.fields[OPS]
  local live, ended, kept, older, persons = cells[LIVE], cells[ENDED], cells[OPS], cells[OPS + 1], cells[STATE]
  local j = 0

  -- seen is a cell of the newcomer as it is now: as the group has left it, or as it
  -- was read. One that has something is kept, for others to get.
  local function seen(of, k, field)
    local v = of[field]
    if v == nil then
      v = read[k][j]
      if v then of[field] = v end
    end
    return v
  end

  local function refused(k, now)
    local expected = k[K_EXPECT]
    local by = k.looks and seen(persons, STATE, people[j]) and holder(sub(people[j], 2), k[K_LINE])
    for i = 1, #expected do
      local x = shared[expected[i]]
      if not x then
        if by then return {'refused', i, by} end
      elseif not x.held then
        local have = expect(x, now)
        if have then return {'refused', i, have} end
      end
    end
    local rec = seen(live, LIVE, ids[j]) or seen(ended, ENDED, ids[j])
    if rec then return {'token', 1, (unpack_('>I4', long(rec)))} end
    if by and k[K_UNIQUE] then return {'holder', 1, by} end
  end

  return function(kind, m)
    j = j + 1
    local k, now, id, op = kinds_[kind], m.now, ids[j], ops[j]
    if not k.begin then settled(k, now) end
    if k[K_KEEP] > 0 and (seen(kept, OPS, op) or seen(older, OPS + 1, op)) then
      local again = replayed({op, sub(memories[j], 1, 16)}, now)
      if again then
        if again[1] == 'replay' then again[5] = m.event end
        return again
      end
    end
    local refusal = refused(k, now)
    if refusal then return refusal end
    local no, n = number_of(k), m.arrival + 1
    if not no then return {'series', 1} end
    m.arrival = n
    local rank, listed = rank_in(k, n, now), entry(id)
    put_once(LIVE, id, record_in(k, n, no, rests[j]))
    count(k[K_LINE], k[K_STATE], 1)
    local lines_ = ready[LINES]
    lines_[#lines_ + 1], lines_[#lines_ + 2] = 0, k.point .. pack('>I6', n) .. id
    lane_gains(k[K_LANE], k.place, n)
    if k.due > 0 then pending[DUE][id] = number(k.due) end
    if k[K_ENTRY] then
      put_once(STATE, people[j], (seen(persons, STATE, people[j]) or '') .. k[K_ENTRY] .. id .. k[K_LINE])
    end
    arrives('i', n, listed)
    for _, t in ipairs(k[K_TALLIES]) do add(t[1], t[2], t[3]) end
    jot(m, pack('>BI5I6I4', 1, n, no, #events[j]), events[j])
    if k[K_KEEP] > 0 then
      put_once(k.kept_in, op, k.expires .. memories[j] .. pack('>BI2', 0, #listed) .. listed)
    end
    return {'ok', m.event, 0, n, n, 0, no, k.place, k.due, rank}
  end
end
