-- judge decides whether one batch stands: first everything is read and
-- checked, then `write` changes cells, which cannot fail. A batch is an array
-- of named parts, as batch.go writes it.

-- replayed is the remembered operation, or nil.
local function replayed(op, now)
  if not op then return end
  local packed = get(OPS, op[1]) or get(OPS + 1, op[1])
  if not packed then return end
  local expires, hash, picked, note, ids = struct.unpack('>I6c16BBc0I2c0', packed)
  if expires <= now then return end
  if hash ~= op[2] then return {'reused'} end
  return {'replay', note, picked, ids}
end

-- old reads the records that the batch replaces.
local function old_records(b, now)
  local olds = {}
  for i, w in ipairs(b.tokens) do
    local rec, from = find(w.id)
    local h = rec and head(rec)
    local have = h and h.version or 0
    if have ~= w.version - 1 then return nil, {'token', i, have} end
    if h then h.rec, h.from = rec, from end
    olds[i] = h or false
  end
  return olds
end

-- taken is the refusal of a write that would give one mark to two tokens.
local function taken(b)
  local mine, frees = {}, {}
  for _, w in ipairs(b.tokens) do frees[w.id] = not has(w.flags, IS_HOLDER) or w.business .. '\0' .. w.line end
  for i, w in ipairs(b.tokens) do
    if has(w.flags, IS_HOLDER) and not w.archive then
      local key = w.business .. '\0' .. w.line
      local by = mine[key] or holder(w.business, w.line)
      if by and by ~= w.id and (mine[key] or frees[by] == nil or frees[by] == key) then return {'holder', i, by} end
      mine[key] = w.id
    end
  end
end

-- next_number is the next of a series {field, day, first, last, at}, and its day.
local function next_number(s)
  local have, n = daily(s[1])
  local day = math.max(s[2], have)
  n = have == day and math.max(n + 1, s[3]) or s[3]
  if s[4] > 0 and n > s[4] then
    if s[5] == 'refuse' then return end
    if s[5] == 'wrap' then n = s[3] end
  end
  return n, day
end

-- numbered gives the series numbers of the batch and returns what to put back
-- when a later one is refused.
local function numbered(b)
  local undo = {}
  for i, w in ipairs(b.tokens) do
    if w.series then
      local n, day = next_number(w.series)
      if not n then
        for field, v in pairs(undo) do cells[STATE][field] = v end
        return {'series', i}
      end
      local field = w.series[1]
      if undo[field] == nil then undo[field] = get(STATE, field) end
      put(STATE, field, struct.pack('>i4I6', day, n))
      w.number = n
    end
  end
end

-- wrong is what no state could make right.
local function wrong(b, olds, arrival)
  for i, w in ipairs(b.tokens) do
    local h = olds[i]
    if w.archive and not has(h.flags, HAS_ENDED) then return 'archived before its end' end
    if h and not w.archive and w.arrival ~= h.arrival then return 'changes its arrival number' end
    if (w.seq or 0) > arrival then return 'brings a seq that was never given' end
  end
end

-- place resolves where a written token stands.
local function place(w, now)
  local function scaled(at)
    if not w.scale then return at end
    local from = resolve(w.scale, now)
    local past = at - from
    local q = math.floor(past / 1000) -- in two parts, so that no product passes 2^53
    return from + q * w.factor + math.floor((past - q * 1000) * w.factor / 1000)
  end
  local p = resolve(w.place, now)
  if w.floor then p = math.max(p, scaled(resolve(w.floor, now))) else p = scaled(p) end
  return math.max(p + (w.penalty or 0), 0)
end
