-- next_number is the next of a series, and its day; nothing when the series
-- refuses.
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
