-- The partition's clock: the server's time made monotonic, as store.Clock
-- does it. The server's clock may step; what a process knows by its own
-- monotonic clock only delays, never advances.
-- Times in ms. State: t = server time last read, exact = last answered, which
-- may have a half, now = the same in whole ms,
-- behind >= 0, doubt <= 0, doubted = for how long, steps = how many were seen.

local SLEW, DOUBT, BELIEVE = 1000, 60000, 120000

local function micros()
  local at = redis.call('TIME')
  return at[1] * 1000 + math.floor(at[2] / 1000)
end

-- elapse takes in that wall ms passed on the server's clock, and real ms by
-- what a process measured; report is called for each step of over a minute.
local function elapse(c, wall, real, report)
  local drift = wall - real
  c.behind = c.behind - math.min(c.behind, real / 2)
  if drift < -SLEW then
    local gone = math.min(-drift, -c.doubt)
    c.doubt = c.doubt + gone
    report(drift, gone > 0 and 'returned' or 'held')
    return
  end
  if c.doubt < 0 then
    c.doubted = c.doubted + real
    if c.doubted >= BELIEVE then
      report(-c.doubt, 'accepted')
      c.doubt, c.doubted = 0, 0
    end
  end
  if drift <= SLEW then return end
  local paid = math.min(drift, c.behind)
  c.behind = c.behind - paid
  if drift - paid <= DOUBT then
    report(drift, 'returned')
    return
  end
  c.doubt, c.doubted = c.doubt - (drift - paid), 0
  report(drift, 'doubted')
end

-- tick reads the clock at server time t and returns the steps it noticed, and
-- whether there was any, also one too short to be told.
-- seen is what the calling process knows: {server time of its last answer,
-- ms since then by its monotonic clock, c.steps in that answer, the partition's
-- time in it, in half ms}, or false. Reads are not written down, so it may know more.
local function tick(c, t, seen)
  local steps, all = {}, 0
  local function report(by, did)
    all = all + 1
    if by > DOUBT or by < -DOUBT then steps[#steps + 1] = {by, did} end
  end
  if seen then
    if c.t == 0 then c.t = seen[1] end
    c.exact = math.max(c.exact, seen[4] / 2)
  end
  if c.t > 0 then
    local wall = t - c.t
    local real = math.max(wall, 0)
    if seen and seen[3] == c.steps then real = math.max(seen[1] + seen[2] - c.t, 0) end
    elapse(c, wall, real, report)
  end
  local back = c.exact - (t + c.behind + c.doubt)
  if back > 0 then
    local gone = math.min(back, -c.doubt)
    c.doubt, c.behind = c.doubt + gone, c.behind + back - gone
  end
  if c.doubt == 0 then c.doubted = 0 end
  c.t, c.exact, c.steps = t, t + c.behind + c.doubt, c.steps + all
  c.now = math.floor(c.exact)
  return steps, all > 0
end
