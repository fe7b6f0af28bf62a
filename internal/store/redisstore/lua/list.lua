-- Records of some buckets of 64 arrivals, for a page of a list.
-- KEYS: the partition's keys (meta.lua). ARGV[1]: the bucket to begin with;
--   ARGV[2]: 1 = that one and later ones, 0 = that one and earlier ones;
--   ARGV[3]: how many buckets at most; ARGV[4], packed: {wall ms or
--   false, seen (clock.lua)}.
-- RETURNS a packed array: `ok`, now in half ms, server time, steps, whether the
--   clock stepped (view.lua), {id, record} of all tokens in them, the next bucket
--   or -1.

local begin, up, many, try = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3]), cmsgpack.unpack(ARGV[4])
local m = meta(get(STATE, 'm'))
local _, stepped = tick(m, try.wall or micros(), try.seen)
local buckets
if up then
  buckets = redis.call('ZRANGEBYSCORE', KEYS[BUCKETS], begin, '(inf', 'LIMIT', 0, many + 1)
else
  buckets = redis.call('ZREVRANGEBYSCORE', KEYS[BUCKETS], begin, 0, 'LIMIT', 0, many + 1)
end
local found = {}
for i = 1, math.min(#buckets, many) do
  for _, list in ipairs({'i', 'j'}) do
    local all, at = get(STATE, list .. buckets[i]) or '', 1
    while at <= #all do
      local len = string.byte(all, at)
      local id = string.sub(all, at + 1, at + len)
      found[#found + 1] = {id, (find(id))}
      at = at + 1 + len
    end
  end
end
return cmsgpack.pack({'ok', 2 * m.exact, m.t, m.steps, stepped, found, tonumber(buckets[many + 1] or -1)})
