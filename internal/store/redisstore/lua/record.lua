-- A token's record: what scripts read or fill in comes first, the rest is
-- opaque. Times in ms; symbolic times in the rest stand for the head's now.

local HEAD = '>I4BBI6I6I5I5I5I6I6'
local TAIL = '>I4BBc0Bc0Bc0Bc0Bc0I2c0' -- gen, width, site, queue, lane, counter, prefix, business
local IN_LANE, HAS_PERSON, IS_HOLDER, AT_COUNTER, IS_BUSY, HAS_ENDED = 1, 2, 4, 8, 16, 32

local function pack_head(h)
  return struct.pack(HEAD, h.version, h.flags, h.state, h.now, h.place, h.arrival, h.seq, h.call, h.number, h.due)
end

-- head reads the parts that scripts need; h.rest is where the patch begins.
local function head(rec)
  local h, at = {}, nil
  h.version, h.flags, h.state, h.now, h.place, h.arrival, h.seq, h.call, h.number, h.due, at = struct.unpack(HEAD, rec)
  h.tail = at
  h.gen, h.width, h.site, h.queue, h.lane, h.counter, h.prefix, h.business, h.rest = struct.unpack(TAIL, rec, at)
  h.line = h.queue .. '\0' .. struct.pack('>I4', h.gen)
  return h
end

-- find returns a record that batches may change, and the hash that has it.
local function find(id)
  local rec = get(LIVE, id)
  if rec then return rec, LIVE end
  rec = get(ENDED, id)
  if rec then return rec, ENDED end
end

local function resolve(v, now) -- a symbolic time is 2^50 + its distance from now
  if v >= 562949953421312 then return v - 1125899906842624 + now end
  return v
end
