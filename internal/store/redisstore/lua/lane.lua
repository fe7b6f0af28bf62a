-- What was learned of lanes is kept for the next batch of the group, until a
-- member comes or goes that makes it wrong.

-- opened are lanes that surely have members; whole, all lanes of a line; walks,
-- those that compete with a class. They are good until another lane opens.
local opened, walks, whole = {}, {}, {}

-- unbound says of a line that none of its lanes is bound to a counter; fronts
-- are the first members of lanes, of which picks took the first ones.
local unbound, fronts = {}, {}

-- behind reports whether a point is behind all that a front has read of its
-- lane, and there is more to read.
local function behind(o, place, seq)
  local last = o.members[#o.members]
  local p, s = struct.unpack('>I6I6', last, #o.prefix + 1)
  return not o.whole and (p < place or p == place and s < seq)
end

local function lane_gains(prefix, place, seq)
  if not opened[prefix] then
    opened[prefix], walks, whole, unbound, fronts = true, {}, {}, {}, {}
  end
  for key, lanes_ in pairs(fronts) do
    for _, o in ipairs(lanes_) do
      if o.prefix == prefix and not behind(o, place, seq) then fronts[key] = nil end
    end
  end
  local t = tails[prefix]
  if not t then return end
  t.n = t.n + 1
  if t.place < place or t.place == place and t.seq < seq then t.place, t.seq = place, seq end
end

local function lane_loses(prefix, member)
  for key, lanes_ in pairs(fronts) do
    for _, o in ipairs(lanes_) do
      if o.prefix == prefix then
        if o.members[o.first] == member then o.first = o.first + 1 else fronts[key] = nil end
      end
    end
  end
  opened[prefix] = nil
  local t = tails[prefix]
  if t then t.n = t.n - 1 end
end
