-- called writes the call on one picked token: the head and a patch that says
-- what store.Token.Call needs; the record behind it stays as it is.

-- take reads the record of a choice, or returns what is wrong with it.
local function take(choice, b)
  for _, w in ipairs(b[B_TOKENS]) do
    if w[ID] == choice.id then return nil, 'a batch writes and picks one token' end
  end
  local rec = get(LIVE, choice.id)
  local h = rec and head(rec)
  if not h or not has(h.flags, IN_LANE) or member(h, choice.id) ~= choice.member then
    return nil, 'a lane names a token that does not wait there'
  end
  if h.site ~= b[B_SITE] then return nil, 'a batch picks from another site' end
  return h
end

local function called(p, spec, choice, h, m)
  m.call = m.call + 1
  local new = {
    version = h.version + 1, flags = band(h.flags, HAS_PERSON + IS_HOLDER) + AT_COUNTER + IS_BUSY, state = p.state,
    now = h.now, place = h.place, arrival = h.arrival, seq = h.seq, call = m.call, number = h.number,
    due = resolve(spec.due or p.due, m.now), line = h.line, lane = h.lane, counter = p.counter, business = h.business,
    width = h.width, prefix = h.prefix, queue = h.queue,
  }
  local compared = {}
  for i, c in ipairs(choice.compared) do compared[i] = entry(c) end
  local patch = pack('>I6I6I4BBc0Bc0', m.now, resolve(spec.deadline or p.deadline, m.now), choice.passed,
    h.state, #p.actor, p.actor, #h.counter, h.counter) .. table.concat(compared)
  new.rec = pack_head(new)
    .. pack('>I4BBc0Bc0Bc0Bc0Bc0I2c0', h.gen, h.width, #h.site, h.site, #h.queue, h.queue, #h.shape, h.shape,
      #p.counter, p.counter, #h.prefix, h.prefix, #h.business, h.business)
    .. pack('>I2c0', #patch, patch) .. sub(h.rec, h.rest + 2 + unpack_('>I2', h.rec, h.rest))
  return new
end
