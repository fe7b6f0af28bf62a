-- Where a written token stands.

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
