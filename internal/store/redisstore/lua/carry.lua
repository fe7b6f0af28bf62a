-- carry_out changes cells as a batch that stands says, and returns its answer:
-- `ok`, the number of the last event, how many were picked; then of each
-- written token arrival, seq, call, number, place and due, or the record of one
-- that was archived; id and record of each picked; the ranks.

local asks
local function rank_of(ask, line, place_, seq, now)
  local found = walks[ask]
  if not found or ask.line ~= line then
    ask.line = line
    local all = whole[line]
    found = all and only(all, sight(ask.classes, ask.bound, ask.class)) or rivals(ask, ask.class)
    -- Of those found earlier, some may have emptied.
    for i = 1, all and 0 or #found do opened[found[i].prefix] = true end
    walks[ask] = found
  end
  return rank(now, ask, ask.class, ask.k, place_, seq, found)
end

-- told logs the events of a batch; those of the picked come last.
local function told(b, news, olds, choices, m)
  local events = b[B_EVENTS]
  for i = 1, #events do
    local ev = events[i]
    log_event(m, ev[2], ev[1] > 0 and (news[ev[1]] or olds[ev[1]]))
  end
  for i = 1, #choices do log_call(m, b[B_PICK][P_EVENT], choices[i].new, choices[i].id) end
end

local function carry_out(b, olds, choices, specs, heads, m)
  local tokens, news, now = b[B_TOKENS], {}, m.now
  for i = 1, #tokens do
    if not tokens[i][MORE][ARCHIVED] then news[i] = written(tokens[i], olds[i], m) end
  end
  local asked, ranks = b[B_RANKS], nil
  for i = 1, #asked do
    local ask = asks[asked[i]]
    ranks = ranks or {}
    local new = news[ask.token] or olds[ask.token]
    ranks[i] = rank_of(ask, tokens[ask.token][LINE], new.place, new.seq, now)
  end
  owe(choices, specs) -- behind the ranks, which are those before the pick
  for i = 1, #choices do choices[i].new = called(b[B_PICK], specs[i], choices[i], heads[i], m) end
  local answer, n, ids = {'ok', 0, #choices}, 3, ''
  for i = 1, #tokens do
    local id, new = tokens[i][ID], news[i]
    if new then
      move(id, olds[i], new)
      answer[n + 1], answer[n + 2], answer[n + 3] = new.arrival, new.seq, new.call
      answer[n + 4], answer[n + 5], answer[n + 6] = new.number, new.place, new.due
      n = n + 6
    else
      n = n + 1
      answer[n] = archive(id, olds[i]).rec
    end
    ids = ids .. entry(id)
  end
  for i = 1, #choices do
    local c = choices[i]
    move(c.id, heads[i], c.new)
    answer[n + 1], answer[n + 2] = c.id, c.new.rec
    n, ids = n + 2, ids .. entry(c.id)
  end
  for i = 1, #asked do answer[n + i] = ranks[i] end
  local more = noted(b, now)
  told(b, news, olds, choices, m)
  answer[2] = m.event
  local wrote = #tokens + more + #b[B_EVENTS] > 0
  if b[B_OP] and (#choices > 0 or wrote and not b[B_PICK]) then remember(b[B_OP], ids, #choices, now) end
  return answer
end
