-- kinds answer what an Ask asks, each its kind of part; ask.go writes the parts
-- and reads the answers.

-- record finds a record wherever it is.
local function record(id)
  return (find(id)) or get(ARCHIVE, id)
end

-- listed are the records named by a list of entries; id_of cuts the id out of an
-- entry that begins at a byte and has a length.
local function listed(field, id_of)
  local all, at, found = get(STATE, field) or '', 1, {}
  while at <= #all do
    local len = string.byte(all, at)
    local id = id_of(all, at, len)
    local rec = find(id)
    if rec then found[#found + 1] = {id, rec} end
    at = at + 1 + len
  end
  return found
end

local function of_counter(all, at, len) return string.sub(all, at + 2, at + len) end
local function of_person(all, at) return string.sub(all, at + 3, at + 2 + string.byte(all, at + 2)) end

local function line_view(line)
  local found = {}
  for i, l in ipairs(lanes(line)) do
    found[i] = {l.class, l.group, l.k, zcount('[' .. l.prefix, '(' .. l.prefix .. '\255'), l.place, l.seq}
  end
  local c = counts(line)
  return {{c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10]}, found}
end

local function rank_view(x, now)
  local key = x.line .. x.class .. '\0' .. x.key
  local found = walks[key]
  if not found then
    found = rivals(x, x.class)
    walks[key] = found
  end
  return rank(now, x, x.class, x.k, x.place, x.seq, found)
end

local function op_view(op, now)
  local seen = replayed(op, now)
  if not seen then return false end
  local records, ids, at = {}, seen[4] or '', 1
  while at <= #ids do
    local len = string.byte(ids, at)
    local id = string.sub(ids, at + 1, at + len)
    records[#records + 1] = {id, record(id)}
    at = at + 1 + len
  end
  return {seen[1], seen[2] or '', seen[3] or 0, records}
end

local kinds = {
  token = function(x) return record(x) or false end,
  doc = function(x) return get(DOCS, x) or false end,
  holder = function(x) return holder(x[1], x[2]) or false end,
  counter = function(x) return listed('b' .. x, of_counter) end,
  person = function(x) return listed('p' .. x, of_person) end,
  line = line_view, front = front_view, after = after_view, rank = rank_view, op = op_view,
  tally = function(x) return on(x[1], x[2]) end,
  mark = mark,
}
