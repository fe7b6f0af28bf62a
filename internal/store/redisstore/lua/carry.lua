-- carry_out changes cells as a batch that stands says, and returns its answer:
-- `ok`, {arrival, seq, call, number, place, due} of each written token (an
-- archived one: its record), id and record of each picked, ranks, last event.

local function rank_of(ask, w, new, now)
  local key = w[LINE] .. ask.class .. '\0' .. ask.key
  local found = walks[key]
  if not found then
    ask.line = w[LINE]
    local all = whole[w[LINE]]
    found = all and only(all, sight(ask.classes, ask.bound, ask.class)) or rivals(ask, ask.class)
    for i = 1, #found do opened[found[i].prefix] = true end
    walks[key] = found
  end
  return rank(now, ask, ask.class, ask.k, new.place, new.seq, found)
end

local function marked(x, now)
  local at = resolve(x.at, now)
  put(MARKS, x.field, pack('>I6I6', at, at + x.keep))
end

-- told logs the events of a batch; those of the picked come last.
local function told(b, news, olds, choices, m)
  for _, ev in ipairs(b[B_EVENTS]) do log_event(m, ev[2], ev[1] > 0 and (news[ev[1]] or olds[ev[1]])) end
  for _, c in ipairs(choices) do log_call(m, b[B_PICK][P_EVENT], c.new, c.id) end
end

local asks
local function carry_out(b, olds, choices, specs, heads, m)
  local written_, news, ranks, tokens, picked, ids = b[B_TOKENS], {}, {}, {}, {}, ''
  for i = 1, #written_ do
    if not written_[i][ARCHIVED] then news[i] = written(written_[i], olds[i], m) end
  end
  for i, n in ipairs(b[B_RANKS]) do
    local ask = asks[n]
    ranks[i] = rank_of(ask, written_[ask.token], news[ask.token] or olds[ask.token], m.now)
  end
  for i, c in ipairs(choices) do c.new = called(b[B_PICK], specs[i], c, heads[i], m) end
  for i = 1, #written_ do
    local id, new = written_[i][ID], news[i]
    if new then
      move(id, olds[i], new)
      tokens[i] = {new.arrival, new.seq, new.call, new.number, new.place, new.due}
    else
      tokens[i] = archive(id, olds[i]).rec
    end
    ids = #written_ == 1 and entry(id) or ids .. entry(id)
  end
  for i, c in ipairs(choices) do
    move(c.id, heads[i], c.new)
    picked[i], ids = {c.id, c.new.rec}, ids .. entry(c.id)
  end
  for _, d in ipairs(b[B_DOCS]) do doc(d, m.now) end
  for _, x in ipairs(b[B_TALLIES]) do add(x[1], x[2], x[3]) end
  for _, x in ipairs(b[B_MARKS]) do marked(x, m.now) end
  told(b, news, olds, choices, m)
  local wrote = #written_ + #b[B_DOCS] + #b[B_TALLIES] + #b[B_MARKS] + #b[B_EVENTS] > 0
  if b[B_OP] and (#choices > 0 or wrote and not b[B_PICK]) then remember(b[B_OP], ids, #choices, m.now) end
  return {'ok', tokens, picked, ranks, m.event}
end
