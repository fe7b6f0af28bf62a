-- A kind is what newcomers (newcomer.lua) have in common, worked out once a group.
--
-- It is an array. EXPECT are numbers of expectations, 0 = that the business id
-- is free in the line; ENTRY begins its entry there, or is false, and UNIQUE says
-- whether it holds the mark. RANK is the number of
-- an ask, 0 = none; KEEP is 0 without an operation.
local K_EXPECT, K_STAMP, K_FLAGS, K_STATE, K_PLACE, K_LINE, K_LANE, K_DUE = 1, 2, 3, 4, 5, 6, 7, 8
local K_SERIES, K_TALLIES, K_RANK, K_KEEP, K_ENTRY, K_UNIQUE = 9, 10, 11, 12, 13, 14

-- settled works out what a kind has in common in this group, whose time is one.
local function settled(k, now)
  k.place = math.max(resolve(k[K_PLACE], now), 0)
  k.due = k[K_DUE] > 0 and resolve(k[K_DUE], now) or 0
  k.at, k.due_at = pack('>I6', k.place), pack('>I6', k.due)
  k.begin = k[K_STAMP] .. moment(now) .. k.at
  if k.place == now and k.due == 0 then k.short = char(SHORT + k[K_FLAGS], k[K_STATE]) .. moment(now) end
  k.point = k[K_LANE] .. k.at
  k.kept_in, k.expires = kept_in(now + k[K_KEEP]), pack('>I6', now + k[K_KEEP])
  k.looks = k[K_UNIQUE]
  for _, x in ipairs(k[K_EXPECT]) do k.looks = k.looks or x == 0 end
end

-- number_of is the number that a newcomer gets, 0 = none; nil where there is none left.
local function number_of(k)
  local series = k[K_SERIES]
  if not series then return 0 end
  local no, day = next_number(series)
  if no then
    local d = daily(series[1])
    d[1], d[2], d.changed, d.gives = day, no, true, series[5] ~= 'wrap'
  end
  return no
end

-- rank_in is the rank that was asked for. In a line of one lane, as most are, it is
-- how many stand before; rank_of knows all lines.
local function rank_in(k, seq, now)
  if k[K_RANK] == 0 then return end
  local ask = asks[k[K_RANK]]
  local walk = walks[ask]
  if walk and #walk == 1 and walk[1].prefix == k[K_LANE] and ask.line == k[K_LINE] then
    return zbelow(k[K_LANE], k.place, seq)
  end
  return rank_of(ask, k[K_LINE], k.place, seq, now)
end

-- record_in is the record of a newcomer.
local function record_in(k, n, no, rest)
  if k.short then return k.short .. pack('>I5I6', n, no) .. rest end
  return k.begin .. pack('>I5I5I5I6', n, n, 0, no) .. k.due_at .. rest
end
