-- What a group or a question reads: Go names the cells, as far as it knows them.

-- fetch reads the cells that Go names, by key, and returns the first few of each
-- key. What is looked for in LIVE is so in ENDED, and in both hashes of operations.
local function fetch(fields, few)
  fields[ENDED], fields[OPS + 1] = fields[LIVE], fields[OPS]
  local first = {}
  for k, names in pairs(fields) do first[k] = prefetch(k, names, few) end
  return first
end
