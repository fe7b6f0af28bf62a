-- The partition's own numbers, one hash. KEYS are numbered alike in every
-- script; the names below are the whole layout of a partition.

local META, LIVE, ENDED, ARCHIVE, LINES, DUE, DOCS, VERSIONS = 1, 2, 3, 4, 5, 6, 7, 8
local COUNTS, PERSONS, COUNTERS, NUMBERS, MARKS, OPS = 9, 10, 11, 12, 13, 14 -- OPS: four, 14 to 17
local ACTIVE, OVER, BUCKETS, RESULTS, LOG, OLDEST, HINT = 18, 19, 20, 21, 22, 23, 24

local FIELDS = {'epoch', 'arrival', 'call', 'event', 't', 'now', 'behind', 'doubt', 'doubted', 'steps', 'swept'}

local function number(n) return string.format('%.0f', n) end

local function meta()
  local got, m = redis.call('HMGET', KEYS[META], unpack(FIELDS)), {}
  for i, name in ipairs(FIELDS) do m[name] = tonumber(got[i] or 0) end
  return m
end

local function keep(m)
  local args = {}
  for _, name in ipairs(FIELDS) do
    args[#args + 1] = name
    args[#args + 1] = string.format(m[name] % 1 == 0 and '%.0f' or '%.1f', m[name])
  end
  redis.call('HSET', KEYS[META], unpack(args))
end
