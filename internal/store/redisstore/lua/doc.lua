-- What a batch says beside its tokens: documents, counts, marks.

-- unsteady forgets what was checked of documents, for one changes.
local shared
local function unsteady()
  for i = 1, #shared do shared[i].held = nil end
end

local function doc(d, now)
  if d.delete then
    unsteady()
    put(STATE, 'v' .. d.field, false)
    put(DOCS, d.field, false)
    pending[DUE]['\0' .. d.field] = false
    return
  end
  local due = resolve(d.due, now)
  unsteady()
  put(STATE, 'v' .. d.field, number(d.expect + 1))
  put(DOCS, d.field, pack('>I6I6', d.expect + 1, due) .. d.body)
  pending[DUE]['\0' .. d.field] = due > 0 and number(due)
end

-- add counts on; a later day begins at 0, an earlier one is over.
local function add(field, day, n)
  local d = daily(field)
  if day < d[1] then return end
  d[1], d[2], d.changed = day, (d[1] == day and d[2] or 0) + n, true
end

local function marked(x, now)
  local at = resolve(x.at, now)
  put(MARKS, x.field, pack('>I6I6', at, at + x.keep))
end

local function noted(b, now)
  local docs, tallies, marks = b[B_DOCS], b[B_TALLIES], b[B_MARKS]
  for i = 1, #docs do doc(docs[i], now) end
  for i = 1, #tallies do add(tallies[i][1], tallies[i][2], tallies[i][3]) end
  for i = 1, #marks do marked(marks[i], now) end
  return #docs + #tallies + #marks
end
