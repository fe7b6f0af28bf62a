-- Whom a turn (turn.lua) calls.

-- lone is the only lane of the kind's line, as long as somebody waits there whom one
-- pick can take; nil where there are others, or a rule that counts what is owed.
local function lone(k)
  if k.sight.discipline == 'ratio' then return end
  local kept = fronts[k.key]
  local o = kept and kept[1]
  if not o or not o.members[o.first] then
    front(k.sight, 3)
    kept = fronts[k.key]
    o = kept and kept[1]
  end
  if o and not kept[2] and o.members[o.first] then return o end
end

-- called_as begins the patch of a call (call.lua), and lane_of is what is known of a
-- lane: how records of its tokens name site, queue and lane, and the patch, up to
-- place and seq, of one who was called with nobody to compare.
local function called_as(k, passed, now)
  return pack('>I6I6I4B', now, resolve(k[T_DEADLINE], now), passed, k[T_WAITING]) .. k[T_ACTOR] .. '\0'
end

local function lane_of(k, prefix, now)
  local l = k.lanes[prefix]
  if not l then
    local lane = sub(prefix, #k.line + 1)
    local patch = called_as(k, 0, now) .. char(#lane + 12) .. lane
    l = {names = entry(k[T_SITE]) .. entry(k.queue) .. entry(lane), patch = pack('>I2', #patch + 12) .. patch}
    k.lanes[prefix] = l
  end
  return l
end

-- found is who is called: id, member, record, what its head says, where in it the
-- rest, the prefix and the counter begin, and patch and point, which follow those.
local found = {}
turn_.found = found

-- look finds that token, and returns the choice or the lane that has it; nil where
-- nobody is to be called, or its record is not as that of who waits mostly is: at no
-- counter, and written since it was last called.
function turn_.look(k, counter, now)
  local f, choice, o = found, nil, lone(k)
  if not o then
    k.sight.bound = '@' .. counter
    choice = pick(now, k[T_MODE], {k.sight}, 1, 0)[1]
    if not choice then return end
  end
  local member = o and o.members[o.first] or choice.member
  local prefix = o and o.prefix or sub(member, 1, #member - #choice.id - 12)
  local l = lane_of(k, prefix, now)
  local id = sub(member, #prefix + 13)
  local rec = get(LIVE, id)
  if not rec then return end
  local at, version, flags, state, since, place, arrival, seq, no, due = parts(rec)
  local p, s = unpack_('>I6I6', member, #prefix + 1)
  if not has(flags, IN_LANE) or state ~= k[T_WAITING] or p ~= place or s ~= seq then return end
  if unpack_('>I4', rec, at) ~= k.gen or find_(rec, l.names, at + 5, true) ~= at + 5 then return end
  local prefixed = at + 5 + #l.names
  local label = string.byte(rec, prefixed)
  local high, low = string.byte(rec, prefixed + 1 + label, prefixed + 2 + label)
  local seat = prefixed + 3 + label + 256 * high + low
  local at_counter, patched, more = string.byte(rec, seat, seat + 2)
  if at_counter + patched + more > 0 then return end
  f.id, f.member, f.rec, f.version, f.flags, f.now, f.place, f.arrival, f.seq = id, member, rec, version, flags, since, place, arrival, seq
  f.number, f.due, f.at, f.prefix, f.label, f.seat, f.lane = no, due, at, prefixed + 1, label, seat, prefix
  f.patch, f.point = l.patch, sub(member, #prefix + 1, #prefix + 12)
  if choice then
    local patch = called_as(k, choice.passed, now)
    for _, c in ipairs(choice.compared) do patch = patch .. entry(c) end
    f.patch, f.point = pack('>I2', #patch) .. patch, ''
  end
  return choice or o
end
