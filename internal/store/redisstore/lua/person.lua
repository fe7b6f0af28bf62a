-- The lists of a business id and of a counter: a token's entry there, and what
-- a list says.

local function person(h, id)
  if not has(h.flags, HAS_PERSON) then return false end
  return entry(char(has(h.flags, IS_HOLDER) and 1 or 0, #id) .. id .. h.line)
end

local function at_counter(h, id)
  if not has(h.flags, AT_COUNTER) then return false end
  return entry(char(has(h.flags, IS_BUSY) and 1 or 0) .. id)
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
