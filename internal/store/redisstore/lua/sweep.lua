-- Forget what is over: marks on one page of them, and the last calls of
-- processes that were not heard of for two days.
-- KEYS: the partition's keys (meta.lua). ARGV[1]: cursor of the page of marks;
--   ARGV[2]: the process, 6 bytes, which is enrolled; ARGV[3]: how many slots a
--   process has.
-- RETURNS a packed array: next cursor, marks looked at, marks forgotten.

local m = meta(get(STATE, 'm'))
local day = math.floor(m.now / DAY)
local page = redis.call('HSCAN', KEYS[MARKS], ARGV[1], 'COUNT', 200)
local gone = {}
for i = 1, #page[2], 2 do
  local v = page[2][i + 1]
  if #v == 12 then
    local _, ends = struct.unpack('>I6I6', v)
    if ends <= m.now then gone[#gone + 1] = page[2][i] end
  end
end
send('HDEL', MARKS, gone)
enroll(ARGV[2], day)
local all, living, dead = redis.call('HGET', KEYS[STATE], 'w'), {}, {}
for at = 1, #all - 9, 10 do
  local heard = struct.unpack('>I4', all, at + 6)
  if heard < day - 1 and #dead < MANY then
    for slot = 0, tonumber(ARGV[3]) - 1 do
      local name = string.sub(all, at, at + 5) .. string.char(slot)
      dead[#dead + 1] = 'q' .. name
      dead[#dead + 1] = 'r' .. name
    end
  else
    living[#living + 1] = string.sub(all, at, at + 9)
  end
end
if #dead > 0 then
  send('HDEL', STATE, dead)
  redis.call('HSET', KEYS[STATE], 'w', table.concat(living))
end
return cmsgpack.pack({tonumber(page[1]), #page[2] / 2, #gone})
