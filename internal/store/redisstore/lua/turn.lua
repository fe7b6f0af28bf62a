-- A turn is a batch that ends the token which a counter has and calls the next one
-- there, and brings nothing that others of its line do not bring too: nearly all
-- calls are. What it has in common with others is its kind (turn_kind.lua), what is
-- its own stands in columns, in their order. One that finds all as it mostly is, is
-- done here, in one go; any other is spread out and judged like other batches.
--
-- Columns, by turn: cells are four fields of STATE, of its business id ("" where it
-- has none), its counter, and the versions of the counter's settings and state;
-- versions are those two as they are written, "" = none; ids and ops as a
-- newcomer's; memories too; counters; points what is between time and due in the
-- head of the record, begins what follows the head up to the counter, rests what
-- follows the counter; events its event, calls that of its pick.

-- turns returns what judges the next turn, of a kind.
local function turns(ts)
  local ids, ops, read, j = ts.ids, ts.ops, {}, 0
  for _, k in ipairs({LIVE, OPS, OPS + 1}) do read[k] = redis.call('HMGET', KEYS[k], unpack(k == LIVE and ids or ops)) end
  read[STATE] = redis.call('HMGET', KEYS[STATE], unpack(ts.cells))

  -- seen is a cell of the turn as it is now.
  local function seen(k, field, i)
    local v = cells[k][field]
    if v == nil then return read[k][i] end
    return v
  end

  -- usual reports whether the token that is ended is the only one at the counter,
  -- and nothing of it changes but what ends it; its person's list is given.
  local function usual(k, rec, id, at, seat)
    if not rec or not seat or #seat ~= #id + 2 or string.byte(seat, 2) ~= 1 or find_(seat, id, 3, true) ~= 3 then return end
    local version, flags = unpack_('>I4B', rec)
    if version ~= k[T_BEFORE] or band(flags, IN_LANE + AT_COUNTER + IS_BUSY + HAS_ENDED) ~= AT_COUNTER + IS_BUSY then return end
    if find_(rec, ts.points[j], 13, true) ~= 13 or find_(rec, ts.begins[j], 46, true) ~= 46 then return end
    if not has(flags, HAS_PERSON) then return true end
    local list = seen(STATE, ts.cells[at], at)
    return list and string.byte(list) == #list - 1 and string.byte(list, 3) == #id and find_(list, id, 4, true) == 4
  end

  -- expected reports whether all that a turn expects is so.
  local function expected(k, at, now)
    local fields, versions, shares = ts.cells, ts.versions, k.shares
    if (seen(STATE, fields[at + 2], at + 2) or '') ~= versions[2 * j - 1] then return end
    if (seen(STATE, fields[at + 3], at + 3) or '') ~= versions[2 * j] then return end
    for i = 1, #shares do
      if not shares[i].held and expect(shares[i], now) then return end
    end
    return true
  end

  return function(kind, m)
    j = j + 1
    local k, id, at, now = ts.kinds[kind], ids[j], 4 * j - 3, m.now
    if not k.begin then turn_.settle(k, now) end
    local rec, op = seen(LIVE, id, j), ops[j]
    local done = k[T_KEEP] > 0 and (seen(OPS, op, j) or seen(OPS + 1, op, j))
    if done or not usual(k, rec, id, at, seen(STATE, ts.cells[at + 1], at + 1)) or not expected(k, at, now) then
      return attempt(turn_.spread(k, ts, j), m)
    end
    return turn_.carry_out(k, ts, j, rec, m) or attempt(turn_.spread(k, ts, j), m)
  end
end
