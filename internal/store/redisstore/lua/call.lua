-- called writes the call on one picked token: the head and a patch that says
-- what store.Token.Call needs; the record behind it stays as it is.

-- take reads the record of a choice, or returns what is wrong with it.
local function take(choice, b)
  for _, w in ipairs(b.tokens) do
    if w.id == choice.id then return nil, 'a batch writes and picks one token' end
  end
  local rec = get(LIVE, choice.id)
  local h = rec and head(rec)
  if not h or not has(h.flags, IN_LANE) or member(h, choice.id) ~= choice.member then
    return nil, 'a lane names a token that does not wait there'
  end
  if h.site ~= b.site then return nil, 'a batch picks from another site' end
  h.rec = rec
  return h
end

local function called(p, spec, choice, h, m)
  m.call = m.call + 1
  local new = {}
  for k, v in pairs(h) do new[k] = v end
  new.version, new.state, new.call, new.counter = h.version + 1, p.state, m.call, p.counter
  new.flags = bit.band(h.flags, HAS_PERSON + IS_HOLDER) + AT_COUNTER + IS_BUSY
  new.due = resolve(spec.due or p.due or 0, m.now)
  local compared = {}
  for i, c in ipairs(choice.compared) do compared[i] = entry(c) end
  local patch = struct.pack('>I6I6I4BBc0Bc0', m.now, resolve(spec.deadline or p.deadline, m.now), choice.passed,
    h.state, #p.actor, p.actor, #h.counter, h.counter) .. table.concat(compared)
  new.rec = pack_head(new)
    .. struct.pack('>I4BBc0Bc0Bc0Bc0Bc0I2c0', h.gen, h.width, #h.site, h.site, #h.queue, h.queue, #h.lane, h.lane,
      #p.counter, p.counter, #h.prefix, h.prefix, #h.business, h.business)
    .. struct.pack('>I2c0', #patch, patch) .. string.sub(h.rec, h.rest + 2 + struct.unpack('>I2', h.rec, h.rest))
  return new
end
