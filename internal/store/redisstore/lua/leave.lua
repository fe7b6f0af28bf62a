-- Take a process that ends out of a partition.
-- KEYS: the partition's keys (meta.lua). ARGV[1]: the process, 6 bytes;
--   ARGV[2]: how many slots it has.
-- RETURNS an empty string.

enroll(ARGV[1])
for slot = 0, tonumber(ARGV[2]) - 1 do
  local name = ARGV[1] .. string.char(slot)
  redis.call('HDEL', KEYS[STATE], 'q' .. name, 'r' .. name)
end
return ''
