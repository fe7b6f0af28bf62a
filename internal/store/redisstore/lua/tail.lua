-- zbelow counts the members of a lane before a point. Who joins is mostly behind
-- all, so that of a lane which is asked about again tails keeps how many members
-- it has and a point that none is behind; false = it was asked about once.
local tails = {}

local function read_tail(prefix)
  local t = {n = zcount('[' .. prefix, '(' .. prefix .. '\255'), place = -1, seq = 0}
  local last = redis.call('ZREVRANGEBYLEX', KEYS[LINES], '(' .. prefix .. '\255', '[' .. prefix, 'LIMIT', 0, 1)[1]
  if last then t.place, t.seq = struct.unpack('>I6I6', last, #prefix + 1) end
  return t
end

-- No seq = all at that place are behind it.
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
