-- The entries of a token in the partition's indexes, as its flags say. The
-- lists (persons, counters, arrivals) are strings of length, payload.

local function member(h, id)
  return h.line .. h.lane .. struct.pack('>I6I6', h.place, h.seq) .. id
end

local function has(flags, bit_) return bit.band(flags, bit_) ~= 0 end

local function entry(payload) return string.char(#payload) .. payload end

local function enlist(k, field, payload)
  put(k, field, (get(k, field) or '') .. entry(payload))
end

local function delist(k, field, payload)
  local all, e = get(k, field) or '', entry(payload)
  local from = string.find(all, e, 1, true)
  if not from then return end
  all = string.sub(all, 1, from - 1) .. string.sub(all, from + #e)
  put(k, field, all ~= '' and all)
end

-- counts of a line by state.
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

-- arrivals are listed by 64, those who are here (i) apart from those whose stay
-- is over (j); a sorted set has the numbers of the 64s.
local function arrived(h, id)
  local bucket = number(math.floor(h.arrival / 64))
  pending[BUCKETS][bucket] = bucket
  enlist(STATE, (has(h.flags, HAS_ENDED) and 'j' or 'i') .. bucket, id)
end

local function departed(h, id)
  local bucket = number(math.floor(h.arrival / 64))
  delist(STATE, (has(h.flags, HAS_ENDED) and 'j' or 'i') .. bucket, id)
  if not get(STATE, 'i' .. bucket) and not get(STATE, 'j' .. bucket) then pending[BUCKETS][bucket] = false end
end

local function person(h, id)
  return string.char(has(h.flags, IS_HOLDER) and 1 or 0, #id) .. id .. h.line
end

local function at_counter(h, id)
  return string.char(has(h.flags, IS_BUSY) and 1 or 0) .. id
end

local function unindex(h, id)
  count(h.line, h.state, -1)
  if has(h.flags, IN_LANE) then pending[LINES][member(h, id)] = false end
  if h.due > 0 then pending[DUE][id] = false end
  if has(h.flags, HAS_PERSON) then delist(STATE, 'p' .. h.business, person(h, id)) end
  if has(h.flags, AT_COUNTER) then delist(STATE, 'b' .. h.counter, at_counter(h, id)) end
end

local function index(h, id)
  count(h.line, h.state, 1)
  if has(h.flags, IN_LANE) then pending[LINES][member(h, id)] = 0 end
  if h.due > 0 then pending[DUE][id] = number(h.due) end
  if has(h.flags, HAS_PERSON) then enlist(STATE, 'p' .. h.business, person(h, id)) end
  if has(h.flags, AT_COUNTER) then enlist(STATE, 'b' .. h.counter, at_counter(h, id)) end
end

-- holder is the token that has the mark of a line, or nil.
local function holder(business, line)
  local all, at = get(STATE, 'p' .. business) or '', 1
  while at <= #all do
    local len, unique, idlen = string.byte(all, at, at + 2)
    if unique == 1 and string.sub(all, at + 3 + idlen, at + len) == line then
      return string.sub(all, at + 3, at + 2 + idlen)
    end
    at = at + 1 + len
  end
end

-- busy is how many tokens fill places at a counter.
local function busy(counter)
  local all, at, n = get(STATE, 'b' .. counter) or '', 1, 0
  while at <= #all do
    local len, fills = string.byte(all, at, at + 1)
    n, at = n + fills, at + 1 + len
  end
  return n
end
