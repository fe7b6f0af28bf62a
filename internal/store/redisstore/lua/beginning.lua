-- front_view: how the lanes of a line begin, in the order of order_lanes.lua; ask.go
-- reads it. x is {line, how many members of each lane}.
-- RETURNS a lane each: {class, group, k, how many stand in it, its first members as
-- place ‖ seq, one behind the other}. Beside the walk it costs a lane of more than
-- two members one zrange, and one zcount where more stand than are asked for.

local function front_view(x)
  local most, found = x[2], {}
  for i, l in ipairs(lanes(x[1], nil, 2)) do
    local prefix, got, keys = l.prefix, l.members, {}
    local n = l.whole and #got
    if not n then
      local last = '(' .. prefix .. '\255'
      got = most > 0 and zrange('[' .. prefix, last, 0, most) or {}
      n = #got < most and #got or zcount('[' .. prefix, last)
    end
    for j = 1, math.min(most, #got) do keys[j] = string.sub(got[j], #prefix + 1, #prefix + 12) end
    found[i] = {l.class, l.group, l.k, n, table.concat(keys)}
  end
  return found
end
