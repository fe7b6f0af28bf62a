-- order_judge: which head of a line is called first, and what its call costs.
--
-- A fragment: it declares `make_judges`, which makes `stronger`, `brief`, `first_of`
-- and `charge` for order_pick. NEEDS: order_rule before it.
--
-- brief(spec, own) tells the runners of a line what its rule says of their groups.
-- stronger(now, a, b) → whether the head of a is taken before that of b, by aging.
-- first_of(now, spec, own) → the runner whose head the line calls first, or nil.
-- charge(now, w) → what the groups of the runner's class owe after its head is
--   called, by group; nil where a call costs nothing.

local stronger, brief, first_of, charge
local function make_judges()
  local function earlier(a, b)
    return a.place < b.place or a.place == b.place and a.seq < b.seq
  end

  function stronger(now, a, b)
    if a.place > now or b.place > now then return earlier(a, b) end
    if a.q ~= b.q then return a.q > b.q end
    local ra, rb = a.r * b.pace, b.r * a.pace
    return ra > rb or ra == rb and a.seq < b.seq
  end

  -- How each judges two heads of one line, ratio those of one class. Between
  -- classes and lines it is stronger, with the ordinary pace but in aging.
  local before = {
    aging = stronger,
    epoch = function(_, a, b) return earlier(a, b) end,
    strict = function(now, a, b, rule)
      local late = now - rule.escalate -- who is overdue has a place before all others
      if a.weight == b.weight or a.place > now or b.place > now or a.place <= late or b.place <= late then
        return earlier(a, b)
      end
      return a.weight < b.weight
    end,
    ratio = function(now, a, b)
      local owes, other = a.owed[a.group], b.owed[b.group]
      if owes == other or a.place > now or b.place > now then return earlier(a, b) end
      return owes < other
    end,
  }

  function brief(spec, own)
    local rule = rules[spec.rule]
    local owed = spec.discipline == "ratio" and debts(rule, own)
    assert(before[spec.discipline], "no such discipline")
    for i = 1, rule and #own or 0 do
      own[i].weight = weight(rule, own[i].group)
      own[i].owed = owed and owed[own[i].class]
    end
  end

  function first_of(now, spec, own)
    local judge, rule = before[spec.discipline], rules[spec.rule]
    local apart, best, first = spec.discipline == "ratio", nil, nil
    for _, o in ipairs(own) do
      if o.member then
        if apart and first and first.class ~= o.class then -- classes stand in order
          if not best or stronger(now, first, best) then best = first end
          first = nil
        end
        if not first or judge(now, o, first, rule) then first = o end
      end
    end
    if best and stronger(now, best, first) then return best end
    return first
  end

  function charge(now, w)
    local owed = w.owed
    if not owed or w.place > now then return end
    local v, after = owed[w.group], {}
    for group, debt in pairs(owed) do owed[group] = math.max(0, debt - v) end
    owed[w.group] = w.weight
    for group, debt in pairs(owed) do after[group] = debt end
    return after
  end
end
