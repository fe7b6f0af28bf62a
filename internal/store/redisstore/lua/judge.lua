-- judge decides whether one batch stands: first everything is read and
-- checked, then carry_out changes cells, which cannot fail. A batch is an array
-- of parts, as batch.go writes it; false or an empty array where it has none.

local B_SITE, B_OP, B_EXPECT, B_DOCS, B_TOKENS, B_TALLIES, B_MARKS, B_EVENTS, B_RANKS, B_PICK = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

-- A written token. STAMP is version, flags and state, packed; BEFORE the version
-- that is replaced. LANE is the line and the lane; PLACE, DUE, SCALE and FLOOR
-- may be symbolic; SERIES is {field, day, first, last, at} or false; PERSON is
-- its entry there or false. MORE is false where all in it are as in PLAIN; CALL
-- -1 is the next.
local ID, STAMP, FLAGS, STATE_, PLACE, LINE, LANE, COUNTER, BUSINESS = 1, 2, 3, 4, 5, 6, 7, 8, 9
local DUE_, SERIES, REST, PERSON, BEFORE, MORE = 10, 11, 12, 13, 14, 15
local ARRIVAL, SEQ, CALL, NUMBER, FACTOR, SCALE, FLOOR, PENALTY, ARCHIVED = 1, 2, 3, 4, 5, 6, 7, 8, 9
local PLAIN = {0, 0, 0, 0, 0, 0, 0, 0, false}

-- replayed is the remembered operation, or nil.
local function replayed(op, now)
  if not op then return end
  local packed = get(OPS, op[1]) or get(OPS + 1, op[1])
  if not packed then return end
  local expires, hash, note, picked, ids = unpack_('>I6c16Bc0BI2c0', packed)
  if expires <= now then return end
  if hash ~= op[2] then return {'reused'} end
  return {'replay', note, picked, ids}
end

-- old_records reads the records that the batch replaces.
local function old_records(tokens)
  local olds = {}
  for i = 1, #tokens do
    local w = tokens[i]
    local rec, from = find(w[ID])
    local h = rec and head(rec)
    local have = h and h.version or 0
    if have ~= w[BEFORE] then return nil, {'token', i, have} end
    if h then h.from = from end
    olds[i] = h or false
    w[MORE] = w[MORE] or PLAIN
  end
  return olds
end

-- taken is the refusal of a write that would give one mark to two tokens.
local function taken(tokens)
  local mine, frees
  for i = 1, #tokens do
    local w = tokens[i]
    if has(w[FLAGS], IS_HOLDER) then
      local by = mine and mine[w[BUSINESS] .. '\0' .. w[LINE]]
      local twice = by
      if not by then
        by = holder(w[BUSINESS], w[LINE])
        twice = by and by ~= w[ID]
        for j = 1, twice and #tokens or 0 do -- unless the batch takes it away
          local o = tokens[j]
          if o[ID] == by and not (has(o[FLAGS], IS_HOLDER) and o[BUSINESS] == w[BUSINESS] and o[LINE] == w[LINE]) then
            twice = false
          end
        end
      end
      if twice then return {'holder', i, by} end
      if #tokens > 1 then
        mine = mine or {}
        mine[w[BUSINESS] .. '\0' .. w[LINE]] = w[ID]
      end
    end
  end
end

-- next_number is the next of a series, and its day.
local function next_number(s)
  local have = daily(s[1])
  local day = math.max(s[2], have[1])
  local n = have[1] == day and math.max(have[2] + 1, s[3]) or s[3]
  if s[4] > 0 and n > s[4] then
    if s[5] == 'refuse' then return end
    if s[5] == 'wrap' then n = s[3] end
  end
  return n, day
end

-- numbered gives the series numbers of the batch; when one is refused, those
-- before it are taken back.
local function numbered(tokens)
  local undo
  for i = 1, #tokens do
    local s = tokens[i][SERIES]
    if s then
      local n, day = next_number(s)
      if not n then
        for d, was in pairs(undo or {}) do d[1], d[2] = was[1], was[2] end
        return {'series', i}
      end
      local d = daily(s[1])
      if #tokens > 1 then
        undo = undo or {}
        undo[d] = undo[d] or {d[1], d[2]}
      end
      d[1], d[2], d.changed, d.gives = day, n, true, s[5] ~= 'wrap'
      tokens[i].number = n
    end
  end
end

-- wrong is what no state could make right.
local function wrong(tokens, olds, arrival)
  for i = 1, #tokens do
    local w, h = tokens[i][MORE], olds[i]
    if h then
      if w[ARCHIVED] and not has(h.flags, HAS_ENDED) then return 'archived before its end' end
      if not w[ARCHIVED] and w[ARRIVAL] ~= h.arrival then return 'changes its arrival number' end
    end
    if w[SEQ] > arrival then return 'brings a seq that was never given' end
  end
end

local function scaled(more, at, now)
  if more[SCALE] == 0 then return at end
  local from = resolve(more[SCALE], now)
  local past = at - from
  local q = math.floor(past / 1000) -- in two parts, so that no product passes 2^53
  return from + q * more[FACTOR] + math.floor((past - q * 1000) * more[FACTOR] / 1000)
end

-- place resolves where a written token stands.
local function place(w, now)
  local p = resolve(w[PLACE], now)
  local more = w[MORE]
  if more == PLAIN and p >= 0 then return p end
  if more[FLOOR] ~= 0 then
    p = math.max(p, scaled(more, resolve(more[FLOOR], now), now))
  else
    p = scaled(more, p, now)
  end
  return math.max(p + more[PENALTY], 0)
end
