-- order_rank: how many of a line are called before a member; order.Rank in Lua.
--
-- A fragment: it declares `rivals` and `rank` for the fragments after it.
-- NEEDS: order_lanes, order_rule and order_ratio before it.
--
-- rivals(spec, class) → the lanes that compete with a member of class, as
--   lanes gives them: those that spec sees, and all of the class itself.
--   spec = {line, discipline, classes = array or false for all, bound =
--   "@counter" or "", and in strict and ratio rule = its number among rules,
--   group = the member's group}.
-- rank(now, spec, class, k, place, seq, found) → number. The member need not
--   stand in the line; it never counts itself. now and place in ms below 2^47;
--   a seq of 2^48 and more is behind all others at its place. found is what
--   rivals(spec, class) gave earlier, so that many ranks cost one walk: it may
--   be used as long as no lane was opened since, also when lanes have emptied.
-- Without found: the walk, then at most one zcount a lane, and none for a lane
-- whose first member is not before; with found: one zcount a lane (ratio: see
-- order_ratio). Nothing is written.
--
-- Exactness. Ahead in a lane of pace j is place < now − x/k, x = age·j. With
-- age = q·k + r, r < k ≤ 400, this is x/k = q·j + r·j/k: floor(age/k) is exact
-- (see order_pick), r·j is below 400², and q·j is exact below 2^53. Above that
-- the bound lies far before 0, where nobody stands, however it is rounded.

local rivals, rank
do
  local floor = math.floor
  local ORDINARY = 20 -- K of the factor 1.0

  local function pace(k)
    if k > 0 then return k end
    return ORDINARY
  end

  -- The point (place, seq) in a lane before which its members are ahead; no
  -- seq = none at that place is ahead.
  local ahead = {
    aging = function(now, lane, k, place, seq)
      if place > now then return place, seq end
      local age, own, other = now - place, pace(k), pace(lane.k)
      local q = floor(age / own)
      local r = (age - q * own) * other
      local more = floor(r / own)
      -- Seq decides only without a remainder: only then can one be as strong.
      if r > more * own then seq = nil end
      return now - (q * other + more), seq
    end,
    epoch = function(_, _, _, place, seq) return place, seq end,
    strict = function(now, lane, _, place, seq, rule, group)
      local late = now - rule.escalate
      local own, other = weight(rule, group), weight(rule, lane.group)
      if place > now or place <= late or own == other then return place, seq end
      if other < own then return now + 1 end
      return late + 1 -- of those behind, the overdue
    end,
  }

  function rivals(spec, class)
    return lanes(spec.line, sight(spec.classes, spec.bound, class))
  end

  function rank(now, spec, class, k, place, seq, found)
    if spec.discipline == "ratio" then
      return ratio_rank(now, spec, class, k, place, seq, found or rivals(spec, class))
    end
    local point, rule = assert(ahead[spec.discipline], "no such discipline"), rules[spec.rule]
    local n = 0
    for _, lane in ipairs(found or rivals(spec, class)) do
      local p, s = point(now, lane, k, place, seq, rule, spec.group)
      -- A head is as old as found is, and may have moved.
      local none = not found and (lane.place > p or lane.place == p and lane.seq >= (s or 0))
      if not none then n = n + below(lane.prefix, p, s) end
    end
    return n
  end
end
