-- What is remembered for a while: marks of business ids, and operations.

-- mark is the time of a mark, or 0.
local function mark(field, now)
  local packed = get(MARKS, field)
  if not packed then return 0 end
  local at, ends = unpack_('>I6I6', packed)
  return ends > now and at or 0
end

-- replayed is the remembered operation, or nil.
local function replayed(op, now)
  if not op then return end
  local packed = get(OPS, op[1]) or get(OPS + 1, op[1])
  if not packed then return end
  local expires, hash, note, picked, ids = unpack_('>I6c16Bc0BI2c0', packed)
  if expires <= now then return end
  if hash ~= op[2] then return {'reused'} end
  return {'replay', note, picked, ids}
end
