-- The entries of a token in the partition's indexes, as its flags say. The
-- lists (persons, counters, arrivals) are strings of length, payload.

local char, find_, sub = string.char, string.find, string.sub

local function member(h, id) return h.lane .. pack('>I6I6', h.place, h.seq) .. id end

local function entry(payload) return char(#payload) .. payload end

local function enlist(field, e) put(STATE, field, (get(STATE, field) or '') .. e) end

local function delist(field, e)
  local all = get(STATE, field) or ''
  local from = find_(all, e, 1, true)
  if not from then return end
  if #all == #e then return put(STATE, field, false) end
  put(STATE, field, sub(all, 1, from - 1) .. sub(all, from + #e))
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
local last, last_bucket
local function bucket(h)
  local n = math.floor(h.arrival / 64)
  if n ~= last then last, last_bucket = n, number(n) end
  return last_bucket
end

local function list_of(flags) return has(flags, HAS_ENDED) and 'j' or 'i' end

-- Lists grow at the end of the group, all at once.
local arriving = {}

local function put_arrivals(field)
  local list = arriving[field]
  if list then
    put(STATE, field, (get(STATE, field) or '') .. table.concat(list))
    arriving[field] = nil
  end
end

local function arrived(h, id)
  local b = bucket(h)
  local field = list_of(h.flags) .. b
  local list = arriving[field]
  if not list then
    if not get(STATE, field) then pending[BUCKETS][b] = b end
    list = {}
    arriving[field] = list
  end
  list[#list + 1] = entry(id)
end

local function departed(h, id)
  local b = bucket(h)
  local field = list_of(h.flags) .. b
  put_arrivals(field)
  delist(field, entry(id))
  if not get(STATE, field) then
    local other = (has(h.flags, HAS_ENDED) and 'i' or 'j') .. b
    if not arriving[other] and not get(STATE, other) then pending[BUCKETS][b] = false end
  end
end

-- relist moves an entry of a list where it changed; false = there is none.
local function relist(from, old, to, new)
  if old == new and from == to then return end
  if old then delist(from, old) end
  if new then enlist(to, new) end
end

local function person(h, id)
  if not has(h.flags, HAS_PERSON) then return false end
  return entry(char(has(h.flags, IS_HOLDER) and 1 or 0, #id) .. id .. h.line)
end

local function at_counter(h, id)
  if not has(h.flags, AT_COUNTER) then return false end
  return entry(char(has(h.flags, IS_BUSY) and 1 or 0) .. id)
end

-- NOWHERE is what a new token comes from.
local NOWHERE = {flags = 0, due = 0, business = '', counter = '', lane = ''}

-- reindex changes the entries of a token from those of h to those of new;
-- new.person and new.seat are given where Go knows them.
local function reindex(h, new, id)
  if h.line ~= new.line or h.state ~= new.state then
    if h.line then count(h.line, h.state, -1) end
    if new.line then count(new.line, new.state, 1) end
  end
  local lanes = pending[LINES]
  if has(h.flags, IN_LANE) then
    local m = member(h, id)
    lanes[m] = false
    lane_loses(h.lane, m)
  end
  if has(new.flags, IN_LANE) then
    lanes[member(new, id)] = 0
    lane_gains(new.lane, new.place, new.seq)
  end
  if h.due ~= new.due then pending[DUE][id] = new.due > 0 and number(new.due) end
  if not new.same_person then
    if new.person == nil then new.person = person(new, id) end
    relist('p' .. h.business, person(h, id), 'p' .. new.business, new.person)
  end
  relist('b' .. h.counter, at_counter(h, id), 'b' .. new.counter, at_counter(new, id))
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
