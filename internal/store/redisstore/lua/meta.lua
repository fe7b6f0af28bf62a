-- The layout of a partition: KEYS are numbered alike in every script, and all
-- small things are fields of one hash, told apart by their first letter.

local STATE, LIVE, ENDED, ARCHIVE, LINES, DUE, DOCS = 1, 2, 3, 4, 5, 6, 7
local OPS, MARKS, BUCKETS, LOG, OLDEST, HINT = 8, 10, 11, 12, 13, 14 -- OPS: two, 8 and 9

-- Fields of STATE: m = the numbers below, f = format, P = how many partitions
-- there are, s = steps of the clock that the log lacks, w = processes (found.lua);
-- v = version of a document, c = counts of a line, p = tokens of a business id,
-- b = tokens at a counter, n = a daily count (ns = of a series, nt = a tally), i and
-- j = arrivals by 64 (here, over), q and r = last call of a slot of a process and
-- what it was answered, D = what a dump needs to know (dump_keep.lua), L and u = what
-- was lost (fence.lua).

local DAY = 86400000 -- ms

local function number(n) return string.format('%.0f', n) end

-- The partition's own numbers. Times in ms; day is that of the operations.
local META = '>I6I6I6I6I6ddddI6I6'

local function meta(packed)
  local m = {epoch = 0, arrival = 0, call = 0, event = 0, t = 0, exact = 0, now = 0, behind = 0, doubt = 0, doubted = 0, steps = 0, day = 0}
  if packed then
    m.epoch, m.arrival, m.call, m.event, m.t, m.exact, m.behind, m.doubt, m.doubted, m.steps, m.day = struct.unpack(META, packed)
    m.now = math.floor(m.exact)
  end
  return m
end

local function pack_meta(m)
  return struct.pack(META, m.epoch, m.arrival, m.call, m.event, m.t, m.exact, m.behind, m.doubt, m.doubted, m.steps, m.day)
end
