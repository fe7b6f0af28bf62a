-- order_pick: the first n members of several lines; order.Pick in Lua.
--
-- Longer than 80 lines: one algorithm, held equal to Go's as a whole
-- (order_test.go).
--
-- A fragment: it declares `pick` for the fragments after it.
-- NEEDS: order_lanes and order_judge before it, and
--   front(spec, want)  the lanes that spec sees, as lanes gives them; where a
--   lane has a first, its members before that are gone
--   zrange(min, max, offset, count), zcount(min, max)  ZRANGEBYLEX and
--   ZLEXCOUNT of the partition's zset of lines, signs included
--
-- pick(now, mode, specs, n, exclude) → array of at most n choices:
--   now      ms, 0 ≤ now < 2^47
--   mode     "oldest" or "listed"
--   specs    array of {line, discipline = "aging", "epoch", "strict" or "ratio",
--            classes = array or false for all, bound = "@counter" or "", rule =
--            its number among rules (order_rule) in strict and ratio}
--   exclude  seq that is never taken, 0 = none
-- A choice is {spec = its index in specs, member = the whole member, place,
-- seq, id, passed = how many with an earlier place were not taken before it,
-- compared = lane ‖ place ‖ seq of the judged heads, the winner first, at most
-- 8; where it was charged, class, and debts = what the groups of that class owe
-- then}. Nothing is written.
--
-- Exactness. The largest age/pace is called first. A head keeps age = q·pace + r
-- with r < pace ≤ 400, and (q, r/pace) is compared: q as it is, r/pace by cross
-- products below 400². An age is below 2^47, and floor(age/pace) is exact below
-- 2^53: the rounding of the division is less than age/pace·2^-53 < 1/pace, which
-- is the least distance to the next whole number. No product of an age is made.

local pick
local function make_pick()
  make_judges()
  local sub, pack, unpack, floor = string.sub, struct.pack, struct.unpack, math.floor
  local ORDINARY = 20 -- K of the factor 1.0
  local COMPARED = 8
  local GLANCE = 8 -- members that are counted one by one rather than by zcount

  -- load makes the member at o.at the head, stepping over the excluded one; a
  -- lane that is used up has no head. Each time it reads on it reads twice as
  -- much, but no more than the left that may still be taken.
  local function load(o, now, exclude, left)
    while true do
      local member = o.members[o.at]
      if not member then
        if o.whole then
          o.member = nil
          return
        end
        local last = o.members[#o.members]
        o.step = math.min(2 * o.step, left + 1)
        o.members = zrange("(" .. last, "(" .. o.prefix .. "\255", 0, o.step)
        o.at, o.whole = 1, #o.members < o.step
      else
        local place, seq = unpack(">I6I6", member, #o.prefix + 1)
        if seq ~= exclude then
          o.member, o.place, o.seq = member, place, seq
          o.q = floor((now - place) / o.pace)
          o.r = now - place - o.q * o.pace
          return
        end
        o.gap, o.at = place, o.at + 1
      end
    end
  end

  -- runners are the lanes that the specs see, an array for each spec. A lane
  -- that several see counts in the first of them.
  local function runners(now, specs, n, exclude, want, first)
    local race, known = {}, {}
    for i, spec in ipairs(specs) do
      race[i] = {}
      for _, o in ipairs(i == 1 and first or front(spec, want)) do
        if not known[o.prefix] then
          known[o.prefix] = true
          o.spec, o.at, o.step, o.pace = i, o.first or 1, #o.members, ORDINARY
          if spec.discipline == "aging" and o.k > 0 then o.pace = o.k end
          load(o, now, exclude, n)
          race[i][#race[i] + 1] = o
        end
      end
      brief(spec, race[i])
    end
    return race
  end

  local function winner(now, mode, specs, race)
    local best
    for i, own in ipairs(race) do
      local first = first_of(now, specs[i], own)
      if first and mode == "listed" then return first end
      if first and (not best or stronger(now, first, best)) then best = first end
    end
    return best
  end

  -- waiting counts the members of a lane from its head that are before place.
  local function waiting(o, place)
    for i = o.at, math.min(#o.members, o.at + GLANCE - 1) do
      if unpack(">I6", o.members[i], #o.prefix + 1) >= place then return i - o.at end
    end
    if o.whole and #o.members < o.at + GLANCE then return #o.members - o.at + 1 end
    return zcount("[" .. o.member, "(" .. o.prefix .. pack(">I6", place))
  end

  -- passed needs no count in the winner's own lane: what is before it there
  -- was taken, or is the excluded member.
  local function passed(race, w)
    local n = 0
    for _, own in ipairs(race) do
      for _, o in ipairs(own) do
        if o.gap and o.gap < w.place then n = n + 1 end
        if o ~= w and o.member and o.place < w.place then n = n + waiting(o, w.place) end
      end
    end
    return n
  end

  local function compared(specs, race, w, mode)
    local heads = {}
    local function add(o)
      heads[#heads + 1] = sub(o.member, #specs[o.spec].line + 1, #o.prefix + 12)
    end
    add(w)
    for i, own in ipairs(race) do
      if mode ~= "listed" or i == w.spec then
        for _, o in ipairs(own) do
          if #heads < COMPARED and o ~= w and o.member then add(o) end
        end
      end
    end
    return heads
  end

  -- alone is the choice where a spec sees one lane only: its first member.
  local function alone(spec, all, exclude)
    local o = all[1]
    if #all ~= 1 or spec.discipline == "ratio" then return end
    local place, seq = unpack(">I6I6", o.member, #o.prefix + 1)
    if seq == exclude then return end
    return {
      spec = 1, member = o.member, place = place, seq = seq, id = sub(o.member, #o.prefix + 13), passed = 0,
      compared = {sub(o.member, #spec.line + 1, #o.prefix + 12)},
    }
  end

  return function(now, mode, specs, n, exclude)
    local choices = {}
    if n < 1 then return choices end
    local want = n + 1
    if exclude > 0 then want = want + 1 end
    local first = specs[1] and front(specs[1], want)
    local only = n == 1 and #specs == 1 and alone(specs[1], first, exclude)
    if only then return {only} end
    local race = runners(now, specs, n, exclude, want, first)
    while true do
      local w = winner(now, mode, specs, race)
      if not w then return choices end
      choices[#choices + 1] = {
        spec = w.spec, member = w.member, place = w.place, seq = w.seq,
        id = sub(w.member, #w.prefix + 13),
        passed = passed(race, w), compared = compared(specs, race, w, mode),
        class = w.class, debts = charge(now, w),
      }
      if #choices == n then return choices end
      w.at = w.at + 1
      load(w, now, exclude, n - #choices)
    end
  end
end

-- Its functions are made when somebody is picked, for most scripts pick nobody.
function pick(...)
  pick = make_pick()
  return pick(...)
end
