-- What is due, oldest first, and when the next is.
-- KEYS: the partition's keys (meta.lua). ARGV[1]: how many at most; ARGV[2],
--   packed: {wall ms or false, seen (clock.lua)}.
-- RETURNS a packed array: `ok`, now in half ms, server time, steps, whether the
--   clock stepped (view.lua), {member, at} of what is due, at of the next or 0.

local limit, try = tonumber(ARGV[1]), cmsgpack.unpack(ARGV[2])
local m = meta(get(STATE, 'm'))
local _, stepped = tick(m, try.wall or micros(), try.seen)
local found = redis.call('ZRANGEBYSCORE', KEYS[DUE], '-inf', '(inf', 'WITHSCORES', 'LIMIT', 0, limit + 1)
local entries, later = {}, 0
for i = 1, #found, 2 do
  local at = tonumber(found[i + 1])
  if at > m.now or #entries == limit then
    later = at
    break
  end
  entries[#entries + 1] = {found[i], at}
end
return cmsgpack.pack({'ok', 2 * m.exact, m.t, m.steps, stepped, entries, later})
