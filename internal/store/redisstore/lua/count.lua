-- Counts: of the tokens of a line by state, and of a day by name.

local COUNTED = '>I4I4I4I4I4I4I4I4I4I4'
local lines = {}
local function counts(line)
  local c = lines[line]
  if not c then
    local packed = get(STATE, 'c' .. line)
    c = packed and {struct.unpack(COUNTED, packed)} or {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
    lines[line] = c
  end
  return c
end

local function count(line, state, n)
  local c = counts(line)
  c[state], c.changed = c[state] + n, true
end

local function put_counts()
  for line, c in pairs(lines) do
    local sum = 0
    for state = 1, 10 do sum = sum + c[state] end
    if c.changed then put(STATE, 'c' .. line, sum > 0 and struct.pack(COUNTED, unpack(c))) end
  end
end

-- daily is a count and the day it belongs to, {day, n}; it is packed at the end.
local counted = {}
local function daily(field)
  local d = counted[field]
  if not d then
    local packed = get(STATE, field)
    d = packed and {unpack_('>i4I6', packed)} or {0, 0}
    counted[field] = d
  end
  return d
end

local function on(field, day)
  local d = daily(field)
  return d[1] == day and d[2] or 0
end

-- tallies are counts of a day, an array as long as fields; those that are not
-- known are read in one command.
local function tallies(day, fields)
  local unread, found = {}, {}
  for _, field in ipairs(fields) do
    if not counted[field] and cells[STATE][field] == nil then unread[#unread + 1] = field end
  end
  prefetch(STATE, unread)
  for i, field in ipairs(fields) do found[i] = on(field, day) end
  return found
end

-- put_daily writes them, and returns the numbers that series gave, for hints:
-- not those of series that begin again.
local function put_daily()
  local given = {}
  for field, d in pairs(counted) do
    if d.changed then
      put(STATE, field, pack('>i4I6', d[1], d[2]))
      if d.gives then given[#given + 1] = pack('>I2c0i4I6', #field, field, d[1], d[2]) end
    end
  end
  return table.concat(given)
end
