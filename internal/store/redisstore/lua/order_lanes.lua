-- order_lanes: finds the lanes of a line by jumping from one to the next.
--
-- Longer than 80 lines: one algorithm, held equal to Go's as a whole
-- (order_test.go).
--
-- A fragment: it declares `sight`, `only` and `lanes` for the fragments after it.
-- NEEDS, from a fragment before it:
--   zrange(min, max, offset, count)  members of the partition's one zset of
--                                    lines: ZRANGEBYLEX, signs included
-- A member is line ‖ lane ‖ place ‖ seq ‖ id, where
--   line   queue "\0" generation (>I4)
--   lane   class "\0" group "\0" K (>I2; twentieths 1..400, 0 = not by factor)
--   place  >I6, ms, 0 ≤ place < 2^47, so that its first byte is never 255
--   seq    >I6, unique in the partition, never 0
--   id     the rest, any bytes
-- and queue, class and group have no "\0". Bytes therefore stand in the order
-- of order.Lane.Compare, then place, then seq.
--
-- sight(classes, bound, own) → which classes are seen, for lanes: those of the
--   array classes (false = all not bound to a counter), the bound class
--   ("@counter"; "" = none), and own, which may be bound too (nil = none).
-- only(all, seen) → those of the lanes that are seen.
-- lanes(line, seen, want) → array of the lanes with members, in the order of
--   Lane.Compare: {prefix = line ‖ lane, class, group, k, member = the whole
--   first member, place, seq, members = its first members as far as they were
--   read, whole = true when these are all}. seen nil = all lanes; want is how
--   many members to read at the first lane (nil = 1; at later ones at most 2).
--   One zrange a lane and one for the end, fewer where lanes are short.

local sight, lanes, only
do
  local sub, find, byte, unpack = string.sub, string.find, string.byte, struct.unpack
  local AT = byte("@")

  -- less compares bytes. Lua's own < asks the locale, which Redis sets.
  local function less(a, b)
    for i = 1, math.min(#a, #b) do
      local x, y = byte(a, i), byte(b, i)
      if x ~= y then return x < y end
    end
    return #a < #b
  end

  -- starts are where a walk may go on behind classes that are not seen. What
  -- an unrestricted walk does not see begins with "@", so "A" is behind it.
  function sight(classes, bound, own)
    local s = {all = not classes, seen = {}, starts = {}}
    local function add(class)
      if not s.seen[class] then
        s.seen[class] = true
        s.starts[#s.starts + 1] = class
      end
    end
    if s.all then s.starts = {"", "A"} end
    for _, class in ipairs(classes or {}) do
      if byte(class) ~= AT then add(class) end
    end
    if byte(bound) == AT then add(bound) end
    if own then add(own) end
    return s
  end

  local function sees(s, class)
    return s.seen[class] or s.all and byte(class) ~= AT
  end

  function only(all, s)
    local found = {}
    for _, lane in ipairs(all) do
      if sees(s, lane.class) then found[#found + 1] = lane end
    end
    return found
  end

  -- start is the first of the starts, or the first behind class; nil if none.
  local function start(s, class)
    local best
    for _, c in ipairs(s.starts) do
      if (not class or less(class, c)) and (not best or less(c, best)) then best = c end
    end
    return best
  end

  -- open reads the lane of a member; nil when it is of another line.
  local function open(line, member)
    if not member or sub(member, 1, #line) ~= line then return nil end
    local c = find(member, "\0", #line + 1, true)
    local g = find(member, "\0", c + 1, true)
    local k, place, seq = unpack(">I2I6I6", member, g + 1)
    return {
      prefix = sub(member, 1, g + 2),
      class = sub(member, #line + 1, c - 1), group = sub(member, c + 1, g - 1), k = k,
      member = member, place = place, seq = seq, members = {},
    }
  end

  function lanes(line, seen, want)
    want = want or 1
    local found, got, at, ended = {}, {}, 1, false
    local class = ""
    if seen then class = start(seen) end
    local from = class and line .. class
    while from do
      if at > #got then
        if ended then break end
        got, at = zrange("[" .. from, "+", 0, want), 1
        ended = #got < want
        want = math.min(want, 2)
      end
      local lane = open(line, got[at])
      if not lane then break end
      if not seen or sees(seen, lane.class) then
        -- What was read behind the lane is what the next jump would find.
        repeat
          lane.members[#lane.members + 1] = got[at]
          at = at + 1
        until at > #got or sub(got[at], 1, #lane.prefix) ~= lane.prefix
        lane.whole = at <= #got or ended
        found[#found + 1] = lane
        from = lane.prefix .. "\255"
      else
        class = start(seen, lane.class)
        from = class and line .. class
        got, at, ended = {}, 1, false
      end
    end
    return found
  end
end
