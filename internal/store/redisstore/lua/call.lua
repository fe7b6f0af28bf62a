-- called writes the call on one picked token: the head and a patch that says
-- what store.Token.Call needs; the record behind it stays as it is.

-- A pick. ACTOR has its length before it, EXCLUDE is an id or false, LINES are
-- numbers of shared lines.
local P_MODE, P_MAX, P_STATE, P_COUNTER, P_DEADLINE, P_DUE, P_ACTOR, P_EXCLUDE, P_EVENT, P_LINES = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

-- take reads the record of a choice, or returns what is wrong with it.
local function take(choice, b)
  for i = 1, #b[B_TOKENS] do
    if b[B_TOKENS][i][ID] == choice.id then return nil, 'a batch writes and picks one token' end
  end
  local rec = long(get(LIVE, choice.id))
  local h = rec and head(rec)
  if not h or not has(h.flags, IN_LANE) or member(h, choice.id) ~= choice.member then
    return nil, 'a lane names a token that does not wait there'
  end
  h.member = choice.member
  if h.site ~= b[B_SITE] then return nil, 'a batch picks from another site' end
  return h
end

local function called(p, spec, choice, h, m)
  m.call = m.call + 1
  local new = {
    version = h.version + 1, flags = band(h.flags, HAS_PERSON + IS_HOLDER + AS_STAMPED) + AT_COUNTER + IS_BUSY, state = p[P_STATE],
    now = h.now, place = h.place, arrival = h.arrival, seq = h.seq, call = m.call, number = h.number,
    due = resolve(spec.due or p[P_DUE], m.now), line = h.line, lane = h.lane, counter = p[P_COUNTER],
    business = h.business, same_person = true, width = h.width, prefix = h.prefix, queue = h.queue,
  }
  local compared = ''
  for _, c in ipairs(choice.compared) do compared = compared .. entry(c) end
  local patch = pack('>I6I6I4B', m.now, resolve(spec.deadline or p[P_DEADLINE], m.now), choice.passed, h.state)
    .. p[P_ACTOR] .. entry(h.counter) .. compared
  local rec, rest = h.rec, h.rest
  new.rec = pack_head(new) .. sub(rec, h.tail, h.seat - 1) .. entry(new.counter)
    .. pack('>I2', #patch) .. patch .. sub(rec, rest + 2 + unpack_('>I2', rec, rest))
  return new
end
