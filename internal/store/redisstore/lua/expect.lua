-- expect checks one expectation at time now and returns nil when it holds,
-- else what the refusal tells: a version, a time or a token's id, or 0.
-- Each is an array: its kind and its parts, as batch.go writes them.

local function version(field)
  local v = get(STATE, field)
  return v and tonumber(v) or 0
end

local function token_version(id)
  local rec = find(id)
  return rec and (unpack_('>I4', rec)) or 0
end

local checks = {
  doc = function(x) local v = version(x[2]); return v == x[3], v end,
  token = function(x) local v = token_version(x[2]); return v == x[3], v end,
  holder = function(x) local by = holder(x[2], x[3]); return not by or by == x[4], by end,
  mark_at = function(x, now) local at = mark(x[2], now); return at == x[3], at end,
  mark = function(x, now) local at = mark(x[2], now); return at <= resolve(x[3], now), at end,
  count = function(x)
    local n, c = 0, counts(x[2])
    for _, state in ipairs(x[3]) do n = n + c[state] end
    return n < x[4]
  end,
  tally = function(x) return on(x[2], x[3]) < x[4] end,
  room = function(x) return busy(x[2]) - x[4] < x[3] end,
  lane = function(x)
    local line = x[2]
    if opened[line .. x[3]] then return true end
    whole[line] = lanes(line)
    for _, l in ipairs(whole[line]) do opened[l.prefix] = true end
    return opened[line .. x[3]] or #whole[line] < x[4]
  end,
  after = function(x, now) return now >= resolve(x[2], now) end,
  before = function(x, now) return now < resolve(x[2], now) end,
}

-- steady are those that stay as they are through a group, unless a document
-- is written: checked once for all batches that share them.
local steady = {doc = true, after = true, before = true}

local function expect(x, now)
  local holds, have = checks[x[1]](x, now)
  if holds and steady[x[1]] then x.held = true end
  if not holds then return have or 0 end
end
