-- order_ratio: how many are called before a member in ordering ratio.
--
-- Longer than 80 lines: one algorithm, held equal to Go's as a whole
-- (order_test.go).
--
-- A fragment: it declares `below` and `ratio_rank` for order_rank.
-- NEEDS: order_rule before it, zrange (order_lanes), and
--   zbelow(prefix, place, seq)  how many members of a lane are before a point;
--                               no seq = those at that place are not
--   zat(prefix, i)              its i-th member, from 0; nil if there is none
--
-- below(prefix, place, seq) is zbelow with a seq of any size, and places before
--   1970.
-- ratio_rank(now, spec, class, k, place, seq, found) → number, as rank of
--   order_rank, with spec.group = the member's group. At most two zcounts for a
--   lane of the member's class and one ZRANGE; for a lane of another class at
--   most three zcounts and one zrange.
--
-- While time stands still a group's i-th member is due when it owes debt +
-- i·stride, and a class is called in the order of these numbers, then of keys.
-- Another class is called as long as its winner has a lesser key than the
-- greatest one (M) among those of the own class that are called before the
-- member and itself: it stops at the first, in its own order, of those that
-- stand at M or behind it. What lies in the future stops nobody.
--
-- Exactness: debts are at most 232,792,560 and no line has 2^25 members, so that
-- debt + i·stride is below 2^53; q is exact as in order_pick.

local SEQS = 281474976710656 -- 2^48
local function below(prefix, place, seq)
  if place < 0 then return 0 end
  if seq and seq >= SEQS then place, seq = place + 1, nil end
  return zbelow(prefix, place, seq)
end

local ratio_rank
local function make_ratio_rank()
  local pack, unpack, floor = struct.pack, struct.unpack, math.floor

  local function less(p, s, place, seq) return p < place or p == place and s < seq end

  local function keyed(prefix, member) return unpack(">I6I6", member, #prefix + 1) end

  -- member_from is the first member of a lane at a point or behind it.
  local function member_from(prefix, place, seq)
    if seq >= SEQS then place, seq = place + 1, 0 end
    local from = place < 0 and "" or pack(">I6I6", place, seq)
    return zrange("[" .. prefix .. from, "(" .. prefix .. "\255", 0, 1)[1]
  end

  -- accounts are lanes with what their groups owe, by class, those of one class
  -- apart.
  local function accounts(rule, found, own)
    local owed, of, others = debts(rule, found, own), {[own.class] = {}}, {}
    for i, lane in ipairs(found) do
      if not of[lane.class] then
        of[lane.class] = {}
        others[#others + 1] = of[lane.class]
      end
      local class = of[lane.class]
      class[#class + 1] = {
        prefix = lane.prefix, group = lane.group, k = lane.k,
        debt = owed[lane.class][lane.group], stride = weight(rule, lane.group),
      }
    end
    return of[own.class], others, owed[own.class][own.group]
  end

  -- called counts the members of a lane that are called before one of the same
  -- class that is due at v and has this key, which is not in the future. Where
  -- the division leaves a remainder, member q is due before v; where it leaves
  -- none, it is due at v too, and the keys decide.
  local function called(now, a, v, place, seq)
    if a.debt > v then return 0 end
    local x = v - a.debt
    local q = floor(x / a.stride)
    if x > q * a.stride then return math.min(q + 1, below(a.prefix, now + 1)) end
    local before = below(a.prefix, place, seq)
    if before > q then return q + 1 end
    if before == q then return q end
    return math.min(q, below(a.prefix, now + 1))
  end

  -- passing counts those of another class that are called before M.
  local function passing(now, class, place, seq)
    if #class == 1 then return below(class[1].prefix, place, seq) end
    local all, stop = 0, nil
    for _, a in ipairs(class) do
      local n = below(a.prefix, place, seq)
      local member, due = member_from(a.prefix, place, seq), a.debt + n * a.stride
      all = all + n
      if member then
        local p, s = keyed(a.prefix, member)
        if p <= now and (not stop or due < stop.due or due == stop.due and less(p, s, stop.place, stop.seq)) then
          stop = {due = due, place = p, seq = s}
        end
      end
    end
    if not stop then return all end
    local n = 0
    for _, a in ipairs(class) do n = n + called(now, a, stop.due, stop.place, stop.seq) end
    return n
  end

  return function(now, spec, class, k, place, seq, found)
    local n = 0
    if place > now then -- all that are not in the future are called first
      for _, lane in ipairs(found) do n = n + below(lane.prefix, place, seq) end
      return n
    end
    local rule = rules[spec.rule]
    local own, others, debt = accounts(rule, found, {class = class, group = spec.group})
    local function mine(a) return a.group == spec.group and a.k == k end
    for _, a in ipairs(own) do
      if mine(a) then n = below(a.prefix, place, seq) end
    end
    local v, p, s = debt + n * weight(rule, spec.group), place, seq
    for _, a in ipairs(own) do
      local before = mine(a) and 0 or called(now, a, v, place, seq)
      n = n + before
      if before > 0 and #others > 0 then
        local lp, ls = keyed(a.prefix, zat(a.prefix, before - 1))
        if less(p, s, lp, ls) then p, s = lp, ls end
      end
    end
    for _, a in ipairs(others) do n = n + passing(now, a, p, s) end
    return n
  end
end

-- Its functions are made when one is needed, for few scripts need them.
function ratio_rank(...)
  ratio_rank = make_ratio_rank()
  return ratio_rank(...)
end
