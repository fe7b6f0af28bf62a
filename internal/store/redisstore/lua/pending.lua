-- Members of sorted sets that are to be added (score) or removed (false).

local pending = {[LINES] = {}, [DUE] = {}, [BUCKETS] = {}}

-- ready are scores and members of new ones: pending, which is settled after
-- them, knows of what the group changes again.
local ready = {[LINES] = {}, [DUE] = {}, [BUCKETS] = {}}

local function settle(k)
  local add, rem = ready[k], {}
  if #add > 0 or next(pending[k]) then ready[k] = {} end
  for member, score in pairs(pending[k]) do
    if score then
      add[#add + 1] = score
      add[#add + 1] = member
    else
      rem[#rem + 1] = member
    end
  end
  if #add + #rem > 0 then pending[k] = {} end
  send('ZADD', k, add)
  send('ZREM', k, rem)
end
