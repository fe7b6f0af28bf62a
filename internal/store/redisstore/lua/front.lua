-- front: the first members of the lanes that a pick sees. What one pick of the
-- group has read serves the next ones.

-- appetite is how many picks the group has: so many are read at once.
local appetite = 0

local function runner(o)
  local member = o.members[o.first]
  return {
    prefix = o.prefix, class = o.class, group = o.group, k = o.k, members = o.members, whole = o.whole,
    first = o.first, member = member,
  }
end

-- ahead_of reads the records that the next picks will take.
local function ahead_of(lanes_)
  local ids = {}
  for _, o in ipairs(lanes_) do
    for i = 1, #o.members do
      local id = string.sub(o.members[i], #o.prefix + 13)
      if #ids < appetite and cells[LIVE][id] == nil then ids[#ids + 1] = id end
    end
  end
  prefetch(LIVE, ids)
end

local function front(spec, want)
  if unbound[spec.line] == nil then
    unbound[spec.line] = #zrange('[' .. spec.line .. '@', '(' .. spec.line .. 'A', 0, 1) == 0
  end
  if not unbound[spec.line] then return lanes(spec.line, sight(spec.classes, spec.bound), want) end
  local key = spec.line .. spec.key
  local kept = fronts[key]
  for _, o in ipairs(kept or {}) do
    if o.first > #o.members and not o.whole then kept = nil end
  end
  if not kept then
    kept = lanes(spec.line, sight(spec.classes, spec.bound), math.max(want, appetite))
    for _, o in ipairs(kept) do o.first = 1 end
    if appetite > 3 then ahead_of(kept) end
    fronts[key] = kept
  end
  local found = {}
  for _, o in ipairs(kept) do
    if o.first <= #o.members then found[#found + 1] = runner(o) end
  end
  return found
end
