-- The index of all lines, for order_*.lua: reads see what earlier batches of
-- the group have changed. What was learned of a line is kept for the next batch.

local function zrange(min, max, offset, count)
  settle(LINES)
  return redis.call('ZRANGEBYLEX', KEYS[LINES], min, max, 'LIMIT', offset, count)
end

local function zcount(min, max)
  settle(LINES)
  return redis.call('ZLEXCOUNT', KEYS[LINES], min, max)
end

-- tails: of lanes that are asked about again and again, how many members there
-- are and a point that none is behind. Who joins is mostly behind all.
local tails = {}

local function read_tail(prefix)
  local t = {n = zcount('[' .. prefix, '(' .. prefix .. '\255'), place = -1, seq = 0}
  local last = redis.call('ZREVRANGEBYLEX', KEYS[LINES], '(' .. prefix .. '\255', '[' .. prefix, 'LIMIT', 0, 1)[1]
  if last then t.place, t.seq = struct.unpack('>I6I6', last, #prefix + 1) end
  return t
end

-- zbelow counts the members of a lane before a point; no seq = all at that
-- place are behind it.
local function zbelow(prefix, place, seq)
  local t = tails[prefix]
  if t == false then
    t = read_tail(prefix)
    tails[prefix] = t
  end
  if t and (t.place < place or seq and t.place == place and t.seq < seq) then return t.n end
  tails[prefix] = t or false
  local bound = '(' .. prefix .. struct.pack('>I6', place)
  if seq then bound = bound .. struct.pack('>I6', seq) end
  return zcount('[' .. prefix, bound)
end

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
