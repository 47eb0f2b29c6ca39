/** The part of the prelude that tells costs of budgets apart: which of them a reading of the ledger may not hold. */
export const costsPrelude = `
-- From when on entries of some owner may not be in the ledger. What a dead one left is read when it is adopted.
local function ledgerUs()
  local first = redis.call('ZRANGE', base .. 'ledger', 0, 0, 'WITHSCORES')
  local at = tonumber(first[2] or us)
  return math.min(us, at), first[1]
end
-- Entries carry times of the ledger's clock, which may step against this one. Notes how far it is ahead, and returns how many
-- milliseconds further than it was at least while costs were remembered.
local function ledgerStep(ledgerMs)
  local key, minute, ahead = base .. 'ahead', math.floor(us / 60000000), ledgerMs - ms
  redis.call('ZADD', key, 'LT', str(ahead), str(minute))
  redis.call('PEXPIRE', key, str(toldMaxMs * 2))
  local samples = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #samples, 2 do
    if math.abs(minute - tonumber(samples[i])) * 60000 > toldMaxMs + 60000 then redis.call('ZREM', key, samples[i]) end
  end
  return math.max(0, ahead - tonumber(samples[2]))
end
-- Counts a cost once. settledMs: how long ago it was settled.
local function tellCost(b, key, start, attempt, cost, settledMs)
  local log, settled = base .. 't:' .. key, us - settledMs * 1000
  b.q = math.max(us, b.q + 1)
  -- Also of what is not counted: whoever reads the ledger next may come before it is there.
  if redis.call('ZADD', log, 'NX', str(b.q), start .. ' ' .. attempt .. ' ' .. cost) == 0 or not b.exists then return end
  if settledMs > 0 then
    redis.call('ZADD', base .. 'd:' .. key, str(settled), start .. ' ' .. attempt .. ' ' .. cost)
    redis.call('PEXPIRE', base .. 'd:' .. key, str(toldMaxMs * 2))
  end
  local p = periodOf(b, start)
  if not p then return end
  -- What is told so late may be in the reading, or have been told before.
  if settled < us - toldMaxMs * 1000 or (p.k and p.m and settled < p.m - 1000000) then p.k = false
  else p.s = p.s + tonumber(cost) end
  p.changed, b.changed = true, true
end
-- Told later than another reading began, but settled before: it is in that.
local function isBefore(key, told, mark)
  local settled = redis.call('ZSCORE', base .. 'd:' .. key, told)
  return settled and tonumber(settled) <= mark
end
-- Costs are remembered until no reading can come before them in the ledger.
local function trimCosts(key)
  local log = base .. 't:' .. key
  local from = math.max(us - toldMaxMs * 1000, math.min(us - toldMs * 1000, (ledgerUs())))
  redis.call('ZREMRANGEBYSCORE', log, '-inf', '(' .. str(from))
  redis.call('PEXPIRE', log, str(toldMaxMs))
  redis.call('ZREMRANGEBYSCORE', base .. 'd:' .. key, '-inf', '(' .. str(us - toldMaxMs * 2000))
end
`;
