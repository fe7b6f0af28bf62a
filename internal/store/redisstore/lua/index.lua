-- The entries of a token in the partition's indexes, as its flags say.

-- settle_in makes the entries of a new token; new.person is given where Go
-- knows it.
local function settle_in(new, id)
  count(new.line, new.state, 1)
  if has(new.flags, IN_LANE) then
    pending[LINES][member(new, id)] = 0
    lane_gains(new.lane, new.place, new.seq)
  end
  if new.due > 0 then pending[DUE][id] = number(new.due) end
  if new.person == nil then new.person = person(new, id) end
  if new.person then enlist('p' .. new.business, new.person) end
  if has(new.flags, AT_COUNTER) then enlist('b' .. new.counter, at_counter(new, id)) end
end

-- reindex changes the entries of a token from those of h to those of new;
-- new.person is given where Go knows it.
local function reindex(h, new, id)
  if h.line ~= new.line or h.state ~= new.state then
    count(h.line, h.state, -1)
    if new.line then count(new.line, new.state, 1) end
  end
  local members = pending[LINES]
  if has(h.flags, IN_LANE) then
    local m = h.member or member(h, id)
    members[m] = false
    lane_loses(h.lane, m)
  end
  if has(new.flags, IN_LANE) then
    members[member(new, id)] = 0
    lane_gains(new.lane, new.place, new.seq)
  end
  if h.due ~= new.due then pending[DUE][id] = new.due > 0 and number(new.due) end
  if not new.same_person then
    if new.person == nil then new.person = person(new, id) end
    relist('p' .. h.business, person(h, id), 'p' .. new.business, new.person)
  end
  if has(h.flags, AT_COUNTER) or has(new.flags, AT_COUNTER) then
    relist('b' .. h.counter, at_counter(h, id), 'b' .. new.counter, at_counter(new, id))
  end
end
