-- Put rows of a dump into a partition as they are, all or none.
-- KEYS: the partition's keys (meta.lua). ARGV[1], packed by load.go: epoch,
--   fields (cells to read), after (the arrival number that must be the last, or
--   false), arrival, call, now (raised to, 0 = not), tokens, counts, marks, ops,
--   docs. ARGV[2], packed: {wall ms or false, seen (clock.lua)}.
-- RETURNS a packed array: `ok`, now in half ms, server time, steps, arrival, call;
--   or `epoch` e, `exists` (something is there that may be equal), `after`,
--   `holder` i (the token's mark is taken), `conflict` (an operation), `wrong` text.

local ask, try = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[2])
fetch(ask.fields)
local m = meta(get(STATE, 'm'))
if ask.epoch ~= m.epoch then return cmsgpack.pack({'epoch', m.epoch}) end
if ask.after and ask.after ~= m.arrival then return cmsgpack.pack({'after'}) end
local unlogged = get(STATE, 's')
local steps = unlogged and cmsgpack.unpack(unlogged) or {}
for _, step in ipairs(tick(m, try.wall or micros(), try.seen)) do steps[#steps + 1] = step end
if #steps > 0 then put(STATE, 's', cmsgpack.pack(steps)) end
m.arrival, m.call, m.exact = math.max(m.arrival, ask.arrival), math.max(m.call, ask.call), math.max(m.exact, ask.now)
m.now = math.floor(m.exact)
local day, mine = math.floor(m.now / DAY), {}

for i, w in ipairs(ask.tokens) do
  if w.arrival > m.arrival or w.seq > m.arrival or w.call > m.call then return cmsgpack.pack({'wrong', 'a token has numbers that were never given'}) end
  if find(w.id) or get(ARCHIVE, w.id) then return cmsgpack.pack({'exists'}) end
  if has(w.flags, IS_HOLDER) then
    local key = w.business .. '\0' .. w.line
    if mine[key] or holder(w.business, w.line) then return cmsgpack.pack({'holder', i}) end
    mine[key] = true
  end
end
for _, d in ipairs(ask.docs) do
  if version('v' .. d[1]) ~= 0 then return cmsgpack.pack({'exists'}) end
end
for _, x in ipairs(ask.ops) do
  local have = get(OPS, x[1]) or get(OPS + 1, x[1])
  if have and struct.unpack('>I6', have) > m.now then
    if string.sub(have, 7, 22) ~= string.sub(x[3], 7, 22) then return cmsgpack.pack({'conflict'}) end
    x.known = true
  end
  if math.floor(x[2] / DAY) > day + 1 then return cmsgpack.pack({'wrong', 'an operation is kept for longer than this store can'}) end
end

for _, w in ipairs(ask.tokens) do
  w.now = 0
  w.rec = pack_head(w) .. w.rest
  if w.archived then gone[#gone + 1] = {w.id, w.rec} else move(w.id, false, w) end
end
for _, x in ipairs(ask.counts) do
  local d = daily(x[1])
  if x[2] > d[1] or x[2] == d[1] and x[3] > d[2] then d[1], d[2], d.changed = x[2], x[3], true end
end
for _, x in ipairs(ask.marks) do
  local have = get(MARKS, x[1])
  if x[3] > m.now and (not have or struct.unpack('>I6', have) < x[2]) then put(MARKS, x[1], struct.pack('>I6I6', x[2], x[3])) end
end
for _, x in ipairs(ask.ops) do
  if not x.known and x[2] > m.now then put(OPS + math.floor(x[2] / DAY) % 2, x[1], x[3]) end
end
for _, d in ipairs(ask.docs) do
  put(STATE, 'v' .. d[1], number(d[2]))
  put(DOCS, d[1], struct.pack('>I6I6', d[2], d[3]) .. d[4])
  pending[DUE]['\0' .. d[1]] = d[3] > 0 and number(d[3])
end
put_counts()
put_daily()
put_arrivals()
keep.old(m)
flush_ops(m)
put(STATE, 'm', pack_meta(m))
for _, k in ipairs({STATE, LIVE, ENDED, DOCS, MARKS}) do flush(k) end
for _, k in ipairs({LINES, DUE, BUCKETS}) do settle(k) end
flush_archive()
return cmsgpack.pack({'ok', 2 * m.exact, m.t, m.steps, m.arrival, m.call})
