-- The lists of the state (persons, counters, arrivals) are strings of entries,
-- each a length and a payload.

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

-- relist moves an entry of a list where it changed; false = there is none.
local function relist(from, old, to, new)
  if old == new and from == to then return end
  if old then delist(from, old) end
  if new then enlist(to, new) end
end
