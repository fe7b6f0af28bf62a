-- keep.old keeps what a group is about to change while a dump is on its way
-- (dump.lua): what stood there before, in one field of STATE a group. It is
-- called before anything is flushed. `D` is {id of the dump, number of the first
-- and of the last such field, bytes in them, until when the dump is believed to
-- go on, in server ms}. A dump that is too slow is given up. One table, since a
-- script may have 200 locals.

local keep = {HOLD = 30000, MOST = 20000, MOST_BYTES = 67108864}

function keep.drop(d, to)
  local fields = {}
  for i = d[2], to do fields[#fields + 1] = 'D' .. number(i) end
  send('HDEL', STATE, fields)
end

function keep.of(k, kept)
  local fields, bytes = {}, 0
  for i = 1, #sets[k], 2 do fields[#fields + 1] = sets[k][i] end
  for field in pairs(dirty[k]) do
    if k ~= STATE or string.sub(field, 1, 1) == 'n' then fields[#fields + 1] = field end
  end
  for from = 1, #fields, MANY do
    local to = math.min(from + MANY - 1, #fields)
    local got = redis.call('HMGET', KEYS[k], unpack(fields, from, to))
    for i, v in ipairs(got) do
      kept[#kept + 1] = {k, fields[from + i - 1], v}
      bytes = bytes + (v and #v or 0) + 40
    end
  end
  return bytes
end

function keep.old(m)
  local packed = get(STATE, 'D')
  if not packed then return end
  local d = cmsgpack.unpack(packed)
  if m.t > d[5] or d[3] - d[2] > keep.MOST or d[4] > keep.MOST_BYTES then
    keep.drop(d, d[3])
    put(STATE, 'D', false)
    return
  end
  local kept, bytes = {}, 0
  for _, k in ipairs({STATE, LIVE, ENDED, DOCS, OPS, OPS + 1, MARKS}) do bytes = bytes + keep.of(k, kept) end
  if #kept == 0 then return end
  d[3], d[4] = d[3] + 1, d[4] + bytes
  put(STATE, 'D' .. number(d[3]), cmsgpack.pack(kept))
  put(STATE, 'D', cmsgpack.pack(d))
end
