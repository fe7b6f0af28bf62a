-- The partition's hashes as cells: read at first use, changed in memory while
-- the batches of a group are judged, written once at the end, so that a script
-- that fails has written nothing.

local cells, dirty, sets = {}, {}, {}
for _, k in ipairs({STATE, LIVE, ENDED, ARCHIVE, DOCS, OPS, OPS + 1, MARKS}) do cells[k], dirty[k], sets[k] = {}, {}, {} end

-- prefetch reads cells of one key in one command; MANY bounds unpack. The first
-- few are not kept but returned: they are read once (newcomer.lua).
local MANY = 2000
local function prefetch(k, fields, few)
  local of, first = cells[k], nil
  few = few or 0
  for from = 1, #fields, MANY do
    local to = math.min(from + MANY - 1, #fields)
    local got = redis.call('HMGET', KEYS[k], unpack(fields, from, to))
    for i = math.max(from, few + 1), to do of[fields[i]] = got[i - from + 1] end
    first = first or got
  end
  return first
end

local function get(k, field)
  local v = cells[k][field]
  if v == nil then
    v = redis.call('HGET', KEYS[k], field)
    cells[k][field] = v
  end
  return v
end

-- forgot reports whether the server has lost an answered call of a process:
-- slots are {name, number of the last one}.
local function forgot(slots)
  for _, s in ipairs(slots) do
    if tonumber(get(STATE, 'q' .. s[1]) or 0) < s[2] then return true end
  end
end

-- put changes a cell; false removes it.
local function put(k, field, v)
  cells[k][field], dirty[k][field] = v, true
end

-- put_once changes a cell that hardly any other batch of the group changes:
-- its arguments are ready. What put says of it later comes later.
local function put_once(k, field, v)
  cells[k][field], dirty[k][field] = v, nil
  local s = sets[k]
  s[#s + 1], s[#s + 2] = field, v
end

-- send runs a command on a key, with some of the arguments at a time.
local function send(command, k, args)
  for from = 1, #args, MANY do
    redis.call(command, KEYS[k], unpack(args, from, math.min(from + MANY - 1, #args)))
  end
end

-- flush writes the cells of a hash.
local function flush(k)
  local set, del = sets[k], {}
  sets[k] = {}
  for field in pairs(dirty[k]) do
    local v = cells[k][field]
    if v then
      set[#set + 1] = field
      set[#set + 1] = v
    else
      del[#del + 1] = field
    end
  end
  dirty[k] = {}
  send('HSET', k, set)
  send('HDEL', k, del)
end
