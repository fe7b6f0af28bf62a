-- A token's record: what scripts read or fill in comes first, the rest is
-- opaque. Times in ms; symbolic times in the rest stand for the head's now.
-- The head of a token that has joined, stands where it came and is not due may be
-- short, since most that wait are so: then its first byte has SHORT and the flags.

local pack, unpack_ = struct.pack, struct.unpack
local HEAD = '>I4BBI6I6I5I5I5I6I6'
local BRIEF, SHORT = '>BBI6I5I6', 128 -- flags, state, now, arrival, number
local TAIL = '>I4BBc0Bc0Bc0Bc0I2c0' -- gen, width, site, queue, lane, prefix, business; then the counter
local IN_LANE, HAS_PERSON, IS_HOLDER, AT_COUNTER, IS_BUSY, HAS_ENDED, AS_STAMPED = 1, 2, 4, 8, 16, 32, 64

local band = bit.band
local function has(flags, flag) return band(flags, flag) ~= 0 end

local function pack_head(h)
  return pack(HEAD, h.version, h.flags, h.state, h.now, h.place, h.arrival, h.seq, h.call, h.number, h.due)
end

-- head reads the parts that scripts need: what follows begins at h.tail, the
-- counter at h.seat, the patch at h.rest.
local function head(rec)
  local version, flags, state, now, place, arrival, seq, call, number, due, at = unpack_(HEAD, rec)
  local gen, width, site, queue, lane, prefix, business, seat = unpack_(TAIL, rec, at)
  local counter, rest = unpack_('Bc0', rec, seat)
  local line = queue .. '\0' .. pack('>I4', gen)
  return {
    rec = rec, version = version, flags = flags, state = state, now = now, place = place, arrival = arrival, seq = seq,
    call = call, number = number, due = due, gen = gen, width = width, site = site, queue = queue, counter = counter,
    prefix = prefix, business = business, seat = seat, rest = rest, tail = at, line = line, lane = line .. lane,
  }
end

-- parts are what a head says, short or not, but the call: where the rest begins,
-- version, flags, state, now, place, arrival, seq, number, due.
local function parts(rec)
  if string.byte(rec) < SHORT then
    local version, flags, state, now, place, arrival, seq, _, number_, due = unpack_(HEAD, rec)
    return 46, version, flags, state, now, place, arrival, seq, number_, due
  end
  local flags, state, now, arrival, number_ = unpack_(BRIEF, rec)
  return 20, 1, flags - SHORT, state, now, now, arrival, arrival, number_, 0
end

-- long is a record with a whole head.
local function long(rec)
  if not rec or string.byte(rec) < SHORT then return rec end
  local at, version, flags, state, now, place, arrival, seq, number_, due = parts(rec)
  return pack(HEAD, version, flags, state, now, place, arrival, seq, 0, number_, due) .. string.sub(rec, at)
end

-- find returns a record that batches may change, and the hash that has it.
local function find(id)
  local rec = long(get(LIVE, id))
  if rec then return rec, LIVE end
  rec = get(ENDED, id)
  if rec then return rec, ENDED end
end

local function resolve(v, now) -- a symbolic time is 2^50 + its distance from now
  if v >= 562949953421312 then return v - 1125899906842624 + now end
  return v
end
