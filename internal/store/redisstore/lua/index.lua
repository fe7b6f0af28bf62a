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

-- Lists change at the end of the group, all at once: entries that come, in
-- order, and those that go.
local arriving, leaving = {}, {}

local function arrived(h, id)
  local field = list_of(h.flags) .. bucket(h)
  local list = arriving[field]
  if not list then
    list = {}
    arriving[field] = list
  end
  list[#list + 1] = entry(id)
end

local function departed(h, id)
  local field = list_of(h.flags) .. bucket(h)
  local e, list = entry(id), arriving[field]
  for i = list and #list or 0, 1, -1 do
    if list[i] == e then return table.remove(list, i) end -- it came in this group
  end
  leaving[field] = leaving[field] or {}
  leaving[field][e] = true
end

-- without is a list of entries without those that leave.
local function without(all, gone)
  local kept, at = {}, 1
  while at <= #all do
    local past = at + 1 + string.byte(all, at)
    local e = sub(all, at, past - 1)
    if not gone[e] then kept[#kept + 1] = e end
    at = past
  end
  return table.concat(kept)
end

local function put_arrivals()
  local touched = {}
  for field, gone in pairs(leaving) do
    local all = without(get(STATE, field) or '', gone)
    put(STATE, field, all ~= '' and all)
    touched[sub(field, 2)] = true
  end
  for field, list in pairs(arriving) do
    if #list > 0 then
      local all = get(STATE, field)
      put(STATE, field, (all or '') .. table.concat(list))
      if not all then touched[sub(field, 2)] = true end
    end
  end
  for b in pairs(touched) do
    pending[BUCKETS][b] = (get(STATE, 'i' .. b) or get(STATE, 'j' .. b)) and b or false
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

-- settle_in makes the entries of a new token; new.person is given where Go
-- knows it.
local function settle_in(new, id)
  count(new.line, new.state, 1)
  if has(new.flags, IN_LANE) then
    pending[LINES][member(new, id)] = 0
    lane_gains(new.lane, new.place, new.seq)
  end
  if new.due > 0 then pending[DUE][id] = number(new.due) end
  if new.person == nil then new.person = person(new, id) end
  if new.person then enlist('p' .. new.business, new.person) end
  if has(new.flags, AT_COUNTER) then enlist('b' .. new.counter, at_counter(new, id)) end
end

-- reindex changes the entries of a token from those of h to those of new;
-- new.person is given where Go knows it.
local function reindex(h, new, id)
  if h.line ~= new.line or h.state ~= new.state then
    count(h.line, h.state, -1)
    if new.line then count(new.line, new.state, 1) end
  end
  local lanes = pending[LINES]
  if has(h.flags, IN_LANE) then
    local m = h.member or member(h, id)
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
  if has(h.flags, AT_COUNTER) or has(new.flags, AT_COUNTER) then
    relist('b' .. h.counter, at_counter(h, id), 'b' .. new.counter, at_counter(new, id))
  end
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
