-- What can be wrong with a batch: it was done already, or what it replaces is
-- not what it read. attempt.lua asks in order.

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
