-- carry_out changes cells as a batch that stands says, and returns its answer:
-- `ok`, {arrival, seq, call, number, place, due} of each written token (an
-- archived one: its record), id and record of each picked, ranks, last event.

local function rank_of(ask, w, new, now)
  local spec = {line = w.line, discipline = ask.discipline, classes = ask.classes, bound = ask.bound}
  return rank(now, spec, ask.class, ask.k, new.place, new.seq)
end

local function marked(x, now)
  local at = resolve(x.at, now)
  put(MARKS, x.field, struct.pack('>I6I6', at, at + x.keep))
end

local function carry_out(b, olds, choices, heads, m)
  local news, ranks, tokens, picked, ids = {}, {}, {}, {}, {}
  for i, w in ipairs(b.tokens) do
    if not w.archive then news[i] = written(w, olds[i], m) end
  end
  for i, ask in ipairs(b.ranks) do ranks[i] = rank_of(ask, b.tokens[ask.token], news[ask.token] or olds[ask.token], m.now) end
  for i, c in ipairs(choices) do
    local new = called(b.pick, b.pick.lines[c.spec], c, heads[i], m)
    move(c.id, heads[i], new)
    picked[i], choices[i].new = {c.id, new.rec}, new
  end
  for i, w in ipairs(b.tokens) do
    if olds[i] then unindex(olds[i], w.id) end
  end
  for i, w in ipairs(b.tokens) do
    local new = news[i]
    if new then
      place_record(w.id, olds[i], new)
      tokens[i] = {new.arrival, new.seq, new.call, new.number, new.place, new.due}
    else
      tokens[i] = archive(w.id, olds[i]).rec
    end
    ids[i] = entry(w.id)
  end
  for i, c in ipairs(choices) do ids[#b.tokens + i] = entry(c.id) end
  for _, d in ipairs(b.docs) do doc(d, m.now) end
  for _, x in ipairs(b.tallies) do add(x[1], x[2], x[3]) end
  for _, x in ipairs(b.marks) do marked(x, m.now) end
  for _, ev in ipairs(b.events) do log_event(m, ev[2], ev[1] > 0 and (news[ev[1]] or olds[ev[1]])) end
  for _, c in ipairs(choices) do log_call(m, b.pick.event, c.new, c.id) end
  local wrote = #b.tokens + #b.docs + #b.tallies + #b.marks + #b.events > 0
  if b.op and (#choices > 0 or wrote and not b.pick) then remember(b, table.concat(ids), #choices, m.now) end
  return {'ok', tokens, picked, ranks, m.event}
end
