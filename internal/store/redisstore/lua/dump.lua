-- One step of a dump: a page of one hash, and what groups have changed since the
-- dump began as it was before (dump_keep.lua), all of it or no page.
-- KEYS: the partition's keys (meta.lua). ARGV[1], packed: id (of the dump), what
--   (`begin`, `page`, `end`), key, cursor, match, count (of the page), taken (number
--   of the last group that the caller has), event (of the beginning).
--   ARGV[2], packed: {wall ms or false, seen (clock.lua)}.
-- RETURNS a packed array: `ok`, epoch, then at the beginning {arrival, call,
--   event, now}, else next cursor, page, number of the last group given, the
--   groups, whether these are all; or `busy` (another dump), `lapsed` (it was given up), `behind` (the
--   server lost commits).

local NOTES, NOTES_BYTES = 64, 4194304
local ask, try = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[2])
local m = meta(get(STATE, 'm'))
local t = try.wall or micros()
local packed = get(STATE, 'D')
local d = packed and cmsgpack.unpack(packed)
if ask.what == 'begin' then
  if d and d[1] ~= ask.id and t <= d[5] and d[5] - t <= keep.HOLD then return cmsgpack.pack({'busy'}) end
  if d then keep.drop(d, d[3]) end
  redis.call('HSET', KEYS[STATE], 'D', cmsgpack.pack({ask.id, 1, 0, 0, t + keep.HOLD}))
  tick(m, t, try.seen)
  return cmsgpack.pack({'ok', m.epoch, {m.arrival, m.call, m.event, m.now}})
end
if not d or d[1] ~= ask.id then return cmsgpack.pack({'lapsed'}) end
if m.event < ask.event then return cmsgpack.pack({'behind'}) end
keep.drop(d, ask.taken)
if ask.what == 'end' then
  keep.drop(d, d[3])
  redis.call('HDEL', KEYS[STATE], 'D')
  return cmsgpack.pack({'ok', m.epoch, '0', {}, d[3], {}})
end
d[2] = math.max(d[2], ask.taken + 1)
local groups, last, bytes = {}, d[2] - 1, 0
while last < d[3] and #groups < NOTES and bytes < NOTES_BYTES do
  last = last + 1
  groups[#groups + 1] = redis.call('HGET', KEYS[STATE], 'D' .. number(last)) or cmsgpack.pack({})
  bytes = bytes + #groups[#groups]
end
if last == d[3] then d[4] = 0 end
d[5] = t + keep.HOLD
redis.call('HSET', KEYS[STATE], 'D', cmsgpack.pack(d))
local page = {ask.cursor, {}}
if last == d[3] then page = redis.call('HSCAN', KEYS[ask.key], ask.cursor, 'MATCH', ask.match, 'COUNT', ask.count) end
return cmsgpack.pack({'ok', m.epoch, page[1], page[2], last, groups, last == d[3]})
