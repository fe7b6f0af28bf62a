-- A kind of turns (turn.lua) is what they have in common, worked out once a group.
--
-- It is an array. EXPECT are numbers of expectations; 0 stands for the one that the
-- counter has room, whose most is ROOM, -1 and -2 for those of its settings and its
-- state. BEFORE is the version that is replaced; EXCLUDES, whether the pick must not
-- take the token that is ended; SIGHT the number of its line; KEEP is 0 without an
-- operation; WAITING is how that state is written.
local T_EXPECT, T_STAMP, T_FLAGS, T_STATE, T_BEFORE, T_LINE, T_LANE, T_DUE, T_FACTOR, T_KEEP = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local T_SITE, T_MODE, T_PICKED, T_DEADLINE, T_CALL_DUE, T_ACTOR, T_SIGHT, T_ROOM, T_EXCLUDES, T_WAITING = 11, 12, 13, 14, 15, 16, 17, 18, 19, 20

local turn_ = {}

-- settle works out what a kind has in common in this group, whose time is one.
function turn_.settle(k, now)
  local sight = sights_[k[T_SIGHT]]
  k.sight, k.key = sight, sight.line .. sight.key
  k.due = resolve(k[T_DUE], now)
  k.due_at, k.score = pack('>I6', k.due), k.due > 0 and number(k.due)
  k.begin = k[T_STAMP] .. moment(now)
  k.call_due = resolve(k[T_CALL_DUE], now)
  k.call_score = k.call_due > 0 and number(k.call_due)
  k.kept_in, k.expires = kept_in(now + k[T_KEEP]), pack('>I6', now + k[T_KEEP])
  k.line, k.lanes, k.shares = sight.line, {}, {}
  k.gen, k.queue = (unpack_('>I4', sight.line, #sight.line - 3)), sub(sight.line, 1, #sight.line - 5)
  for _, x in ipairs(k[T_EXPECT]) do
    if x > 0 then k.shares[#k.shares + 1] = shared[x] end
  end
end

-- spread is turn j of a kind as a batch (batch.lua).
function turn_.spread(k, ts, j)
  local expected, docs = {}, {[-1] = 1, [-2] = 2}
  for i, x in ipairs(k[T_EXPECT]) do
    if x < 1 then
      local n = docs[x]
      shared[#shared + 1] = n and {'doc', ts.cells[4 * j - 2 + n], tonumber(ts.versions[2 * j - 2 + n]) or 0}
        or {'room', ts.counters[j], k[T_ROOM], 1}
      x = #shared
    end
    expected[i] = x
  end
  local id, op, counter, memory = ts.ids[j], ts.ops[j], ts.counters[j], ts.memories[j]
  local at, arrival, seq, call, no = unpack_('>I6I5I5I5I6', ts.points[j])
  local more = {arrival, seq, call, no, k[T_FACTOR], 0, 0, 0, false}
  return {
    k[T_SITE], k[T_KEEP] > 0 and {op, sub(memory, 1, 16), k[T_KEEP], sub(memory, 17)}, expected, {},
    {{id, k[T_STAMP], k[T_FLAGS], k[T_STATE], at, k[T_LINE], k[T_LANE], counter, sub(ts.cells[4 * j - 3], 2), k[T_DUE], false,
      ts.begins[j] .. ts.rests[j], false, k[T_BEFORE], more}},
    {}, {}, {{1, ts.events[j]}}, {},
    {k[T_MODE], 1, k[T_PICKED], counter, k[T_DEADLINE], k[T_CALL_DUE], k[T_ACTOR], k[T_EXCLUDES] and id, ts.calls[j], {k[T_SIGHT]}},
  }
end
