-- Arrivals are listed by 64, those who are here (i) apart from those whose stay
-- is over (j); a sorted set has the numbers of the 64s.

-- named are the fields of lists by the number of their 64.
local named = {i = {}, j = {}}
local function field_of(list, arrival)
  local n = math.floor(arrival / 64)
  local field = named[list][n]
  if not field then
    field = list .. number(n)
    named[list][n] = field
  end
  return field
end

local function list_of(flags) return has(flags, HAS_ENDED) and 'j' or 'i' end

-- Lists change at the end of the group, all at once: entries that come, in
-- order, and those that go.
local arriving, leaving = {}, {}

local function arrives(list, arrival, e)
  local field = field_of(list, arrival)
  local all = arriving[field]
  if not all then
    all = {}
    arriving[field] = all
  end
  all[#all + 1] = e
end

local function arrived(h, id) arrives(list_of(h.flags), h.arrival, entry(id)) end

local function leaves(of, arrival, e)
  local field = field_of(of, arrival)
  local list = arriving[field]
  for i = list and #list or 0, 1, -1 do
    if list[i] == e then return table.remove(list, i) end -- it came in this group
  end
  leaving[field] = leaving[field] or {}
  leaving[field][e] = true
end

local function departed(h, id) leaves(list_of(h.flags), h.arrival, entry(id)) end

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
