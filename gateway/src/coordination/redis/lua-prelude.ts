import { endingsPrelude } from "./lua-endings.ts";

/** Costs of budgets, and which of them may be missing from a reading of the ledger. */
const costsPrelude = `
-- Since when entries of some owner may be missing from the ledger. A dead owner's budgets are read again when its journal is recovered.
local function ledgerUs()
  local first = redis.call('ZRANGE', base .. 'ledger', 0, 0, 'WITHSCORES')
  local at = tonumber(first[2] or us)
  return math.min(us, at), first[1]
end
-- The ledger's clock may step against this one. Records how far it is ahead, and returns by how many milliseconds that exceeds the
-- minimum of the time for which costs are remembered.
local function ledgerStep(ledgerMs)
  local key, minute, ahead = base .. 'ahead', math.floor(us / 60000000), ledgerMs - ms
  redis.call('ZADD', key, 'LT', str(ahead), str(minute))
  redis.call('PEXPIRE', key, str(costsKeptMs * 2))
  local samples = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #samples, 2 do
    if math.abs(minute - tonumber(samples[i])) * 60000 > costsKeptMs + 60000 then redis.call('ZREM', key, samples[i]) end
  end
  return math.max(0, ahead - tonumber(samples[2]))
end
-- Counts a cost once. settledMs: how long ago it was settled.
local function addCost(b, key, start, attempt, cost, settledMs)
  local log, settled = base .. 't:' .. key, us - settledMs * 1000
  b.q = math.max(us, b.q + 1)
  -- Also for uncounted budgets: the next reading of the ledger may come before the entry is there.
  if redis.call('ZADD', log, 'NX', str(b.q), start .. ' ' .. attempt .. ' ' .. cost) == 0 or not b.exists then return end
  if settledMs > 0 then
    redis.call('ZADD', base .. 'd:' .. key, str(settled), start .. ' ' .. attempt .. ' ' .. cost)
    redis.call('PEXPIRE', base .. 'd:' .. key, str(costsKeptMs * 2))
  end
  local p = periodOf(b, start)
  if not p then return end
  -- So late a cost may be in the reading, or have been counted before.
  if settled < us - costsKeptMs * 1000 or (p.k and p.m and settled < p.m - 1000000) then p.k = false
  else addSpent(p, attempt, tonumber(cost)) end
  p.changed, b.changed = true, true
end
-- Reported after another reading began, but settled before it: that reading includes it.
local function isBefore(key, entry, mark)
  local settled = redis.call('ZSCORE', base .. 'd:' .. key, entry)
  return settled and tonumber(settled) <= mark
end
-- Costs are remembered until every reading of the ledger includes them.
local function trimCosts(key)
  local log = base .. 't:' .. key
  local from = math.max(us - costsKeptMs * 1000, math.min(us - repliesKeptMs * 1000, (ledgerUs())))
  redis.call('ZREMRANGEBYSCORE', log, '-inf', '(' .. str(from))
  redis.call('PEXPIRE', log, str(costsKeptMs))
  redis.call('ZREMRANGEBYSCORE', base .. 'd:' .. key, '-inf', '(' .. str(us - costsKeptMs * 2000))
end
`;

/** How long money of a dead process stays held if no process recovers its journal. */
export const redisMoneyMs = 1_800_000;

/**
 * Begins every script. Each operation is one script, so that checking and taking are atomic.
 *
 * KEYS[1] holds the name of the current epoch. Every other key begins with `{tag}:<epoch>:`, where `{tag}` is the hash tag of KEYS[1],
 * so that all keys of a script are in one slot of a cluster. ARGV[1] is the epoch that the caller expects: if it has ended, nothing is
 * done and the answer is -1. ARGV[2] is a time in milliseconds for tests; if empty, the server's clock is used.
 *
 * Keys below the epoch:
 * - `w:<key>` window (hash): `n` newest part, `o` oldest part, `s` sum, `h` held by shares, `v` how often the clock was set back, and a
 *   field for each part
 * - `g:<key>` gauge (number)
 * - `b:<key>` budget (hash): `c` since when all periods were counted here, `q` last sequence number, `p` periods, and for each period
 *   `<start>:s` spent, `:h` held, `:k` spending loaded, `:m` since when costs may be missing from the reading, `:v` reading number,
 *   `:r` spent by bucket, if it is a rolling window (its start is negative; then an attempt is `<id>@<bucket>`)
 * - `k:<scope>` keys of the budgets that are counted of a scope
 * - `t:<key>` recent costs of a budget; `i:` those that a reading included; `d:` when those were settled that were reported late
 * - `r:<id>` reservation; `o:<owner>` ids of an owner's reservations (`o:` alone: those that belong to no process)
 * - `z:<id>` lapsed reservation that windows still count
 * - `l:<tally>` owners that have a share of a tally; `x:<tally>` recall (see shares/share-scripts.ts)
 * - `owners` when each owner's lease ends
 * - `h:<owner>` money that an owner held when its lease ended; `dead` until when it is kept
 * - `ledger` up to when each owner's settlements are in the ledger (microseconds)
 * - `ahead` by minute, the minimum that the ledger's clock was ahead of this one
 * - `awaited` live owners that have not reported to this epoch, and until when they are waited for; `gathered` those that have
 * - `seeded` when the ledger was read to seed the epoch
 */
export const prelude = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {-1} end
local base = string.match(KEYS[1], '^{.-}') .. ':' .. ARGV[1] .. ':'
local time = redis.call('TIME')
local us = tonumber(time[1]) * 1000000 + tonumber(time[2])
if ARGV[2] ~= '' then us = math.floor(tonumber(ARGV[2]) * 1000) end
local ms = math.floor(us / 1000)
local keepMs, idleMs, repliesKeptMs, costsKeptMs, periodsMax = 604800000, 3600000, 120000, 600000, 4
local moneyMs = ${redisMoneyMs}
local parts = 60
local inf = math.huge
local function str(n) return string.format('%.0f', n) end

-- Windows: the running part and the 60 before it are counted, as in window.ts.
local function openWindow(key, windowMs)
  local w = {kind = 'w', k = base .. 'w:' .. key, part = windowMs / parts, windowMs = windowMs, add = {}, drop = {}, held = {}}
  local now = math.floor(ms / w.part)
  local f = redis.call('HMGET', w.k, 'n', 'o', 's', 'h', 'v')
  w.h, w.v = tonumber(f[4] or 0) or 0, f[5] or ''
  if not f[1] then
    w.n, w.o, w.s = now, now, 0
    return w
  end
  w.n, w.o, w.s = tonumber(f[1]), tonumber(f[2]), tonumber(f[3])
  if now < w.n - 1 then
    -- The server's clock was set back. All that is counted counts as of now, which frees nothing early.
    redis.call('DEL', w.k)
    w.v = str((tonumber(w.v) or 0) + 1)
    redis.call('HSET', w.k, 'n', str(now), 'o', str(now), 's', str(w.s), 'h', str(w.h), 'v', w.v, str(now), str(w.s))
    redis.call('PEXPIRE', w.k, str(w.h > 0 and keepMs or windowMs * 3))
    w.n, w.o = now, now
    return w
  end
  if now <= w.n then return w end
  local gone = math.min(now - parts - 1, w.n)
  if w.s > 0 and w.o <= gone then
    for p = w.o, gone do w.drop[#w.drop + 1] = str(p) end
    for _, v in ipairs(redis.call('HMGET', w.k, unpack(w.drop))) do w.s = w.s - (tonumber(v or 0) or 0) end
    w.o = gone + 1
  end
  if w.s == 0 then w.o = now end
  w.n = now
  return w
end
local function partOf(w, p)
  if w.held[p] == nil then
    if not w.looked then
      w.looked = true
      w.held[p] = tonumber(redis.call('HGET', w.k, str(p)) or 0) or 0
    else
      local names = {}
      for q = p, w.n do names[#names + 1] = str(q) end
      for i, v in ipairs(redis.call('HMGET', w.k, unpack(names))) do w.held[p + i - 1] = tonumber(v or 0) or 0 end
    end
  end
  return w.held[p] + (w.add[p] or 0)
end
local function windowAdd(w, p, amount)
  p = math.min(p, w.n)
  if amount == 0 or p < w.n - parts then return end
  w.add[p] = (w.add[p] or 0) + amount
  w.s = w.s + amount
  if p < w.o then w.o = p end
  w.changed = true
end
-- Corrects what was counted in a part: an excess counts as of now, a remainder is subtracted there, unless the clock was set back since
-- (v), which has merged all parts.
local function windowCorrect(w, p, v, amount)
  if amount > 0 then windowAdd(w, w.n, amount)
  elseif (v or '') == w.v then windowAdd(w, p, amount) end
end
local function windowFree(w, amount)
  if w.s == 0 then return 0 end
  local left, last = 0, w.o
  for p = w.o, w.n do
    if left >= amount then break end
    local v = partOf(w, p)
    if v == 0 then
      if left == 0 then w.o = p + 1 end
    else
      left = left + v
      last = p
    end
  end
  return math.max(0, math.ceil((last + parts + 1) * w.part - ms))
end
local function writeWindow(w)
  if not w.changed then return end
  if #w.drop > 0 then redis.call('HDEL', w.k, unpack(w.drop)) end
  if w.s == 0 and w.h == 0 and w.v == '' then
    redis.call('DEL', w.k)
    return
  end
  for p, amount in pairs(w.add) do redis.call('HINCRBY', w.k, str(p), str(amount)) end
  redis.call('HSET', w.k, 'n', str(w.n), 'o', str(w.o), 's', str(w.s), 'h', str(w.h))
  redis.call('PEXPIRE', w.k, str(w.h > 0 and keepMs or math.max(1, w.windowMs * 3)))
end

-- Gauges.
local function openGauge(key)
  local g = {kind = 'g', k = base .. 'g:' .. key, add = 0}
  g.used = tonumber(redis.call('GET', g.k) or 0) or 0
  return g
end
local function writeGauge(g)
  if g.add == 0 then return end
  if g.used <= 0 then redis.call('DEL', g.k)
  else redis.call('SET', g.k, str(g.used), 'PX', str(keepMs)) end
end

-- Budgets. A period is a table {s, h, k}; nil when it is not counted. r: spent by bucket, of a rolling window.
local function isRolling(start) return string.sub(start, 1, 1) == '-' end
local function addSpent(p, attempt, cost)
  if not p.r then
    p.s = p.s + cost
    return
  end
  local bucket = string.match(attempt, '@(%d+)$')
  if not bucket or tonumber(bucket) < (p.r.from or 0) then return end
  p.r[bucket], p.s = (p.r[bucket] or 0) + cost, p.s + cost
end
-- Drops what has left a rolling window. from: when the oldest bucket that counts began.
local function roll(p, from)
  if not p or not p.r or from <= (p.r.from or 0) then return end
  for bucket, cost in pairs(p.r) do
    if bucket ~= 'from' and tonumber(bucket) < from then p.s, p.r[bucket] = p.s - cost, nil end
  end
  p.r.from, p.changed = from, true
end
-- The last bucket that has to leave before an amount is free; 0 when that does not suffice.
local function lastBucket(p, missing)
  if not p.r then return 0 end
  local buckets = {}
  for bucket in pairs(p.r) do if bucket ~= 'from' then buckets[#buckets + 1] = tonumber(bucket) end end
  table.sort(buckets)
  missing = math.max(1, missing)
  for _, bucket in ipairs(buckets) do
    missing = missing - p.r[str(bucket)]
    if missing <= 0 then return bucket end
  end
  return 0
end
local function openBudget(key)
  local b = {kind = 'b', k = base .. 'b:' .. key, periods = {}, list = {}}
  local f = redis.call('HMGET', b.k, 'c', 'q', 'p', 'a')
  b.c, b.q, b.exists, b.a = tonumber(f[1] or inf), tonumber(f[2] or 0), f[3] ~= false, f[4]
  if f[3] then for start in string.gmatch(f[3], '[^,]+') do b.list[#b.list + 1] = start end end
  return b
end
local function addPeriod(b, start, known)
  local p = {s = 0, h = 0, k = known, changed = true, r = isRolling(start) and {} or nil}
  b.periods[start] = p
  table.insert(b.list, 1, start)
  b.exists, b.changed = true, true
  while #b.list > periodsMax do
    local oldest = nil
    for i = 2, #b.list do
      local held = b.periods[b.list[i]] and b.periods[b.list[i]].h or tonumber(redis.call('HGET', b.k, b.list[i] .. ':h') or 0)
      if held == 0 and (oldest == nil or tonumber(b.list[i]) < tonumber(b.list[oldest])) then oldest = i end
    end
    if oldest == nil then break end
    local gone = table.remove(b.list, oldest)
    b.periods[gone] = nil
    b.gone = b.gone or {}
    b.gone[#b.gone + 1] = gone
    if b.c ~= inf then b.c = math.max(b.c, tonumber(gone) + 1) end
  end
  return p
end
local function periodOf(b, start)
  if b.periods[start] then return b.periods[start] end
  for _, known in ipairs(b.list) do
    if known == start then
      local f = redis.call('HMGET', b.k, start .. ':s', start .. ':h', start .. ':k', start .. ':m', start .. ':v', start .. ':r')
      b.periods[start] = {s = tonumber(f[1] or 0), h = tonumber(f[2] or 0), k = f[3] == '1', m = f[4] and tonumber(f[4]) or nil, v = tonumber(f[5] or 0)}
      if isRolling(start) then b.periods[start].r = f[6] and cmsgpack.unpack(f[6]) or {} end
      return b.periods[start]
    end
  end
  if tonumber(start) >= b.c then return addPeriod(b, start, true) end
  return nil
end
-- Invalidates readings that are under way: they may have read the ledger too early.
local function readAnew(p) p.k, p.v = false, (p.v or 0) + 1 end
local function markName(key, start, owner, p)
  return base .. 'm:' .. key .. ':' .. start .. ':' .. str(p.v or 0) .. ':' .. owner
end
local function writeBudget(b)
  if not b.changed then return end
  for _, gone in ipairs(b.gone or {}) do redis.call('HDEL', b.k, gone .. ':s', gone .. ':h', gone .. ':k', gone .. ':m', gone .. ':v', gone .. ':r') end
  local f, held = {'p', table.concat(b.list, ','), 'q', str(b.q)}, false
  if b.c ~= inf then f[#f + 1] = 'c' f[#f + 1] = str(b.c) end
  if b.a then f[#f + 1] = 'a' f[#f + 1] = b.a end
  for start, p in pairs(b.periods) do
    if p.changed then
      f[#f + 1] = start .. ':s' f[#f + 1] = str(p.s)
      f[#f + 1] = start .. ':h' f[#f + 1] = str(p.h)
      f[#f + 1] = start .. ':k' f[#f + 1] = p.k and '1' or '0'
      if p.m then f[#f + 1] = start .. ':m' f[#f + 1] = str(p.m) end
      if p.v then f[#f + 1] = start .. ':v' f[#f + 1] = str(p.v) end
      if p.r then f[#f + 1] = start .. ':r' f[#f + 1] = cmsgpack.pack(p.r) end
    end
    if p.h > 0 then held = true end
  end
  redis.call('HSET', b.k, unpack(f))
  for _, start in ipairs(b.list) do
    if held then break end
    held = not b.periods[start] and (tonumber(redis.call('HGET', b.k, start .. ':h') or 0) or 0) > 0
  end
  -- Spending that the ledger knows may expire when the budget is unused for a while.
  redis.call('PEXPIRE', b.k, str((held or b.a ~= '1') and keepMs or idleMs))
end

local opened, order = {}, {}
local function forget() opened, order = {}, {} end
local function open(kind, key, windowMs)
  local name = kind .. key
  if opened[name] then return opened[name] end
  local it
  if kind == 'w' then it = openWindow(key, windowMs) elseif kind == 'g' then it = openGauge(key) else it = openBudget(key) end
  opened[name] = it
  order[#order + 1] = it
  return it
end
local function write()
  for _, it in ipairs(order) do
    if it.kind == 'w' then writeWindow(it) elseif it.kind == 'g' then writeGauge(it) else writeBudget(it) end
  end
  forget()
end

-- A claim is {kind, key, limit, amount, least, windowMs, periodStart}; its state {used, freeInMs, held}. Of a rolling budget, windowMs is
-- when its oldest bucket that counts began, and freeInMs the last bucket that has to leave.
local function readClaims(from)
  local claims = {}
  for i = from, #ARGV, 7 do
    claims[#claims + 1] = {kind = ARGV[i], key = ARGV[i + 1], limit = tonumber(ARGV[i + 2]), amount = tonumber(ARGV[i + 3]),
      least = tonumber(ARGV[i + 4]), windowMs = tonumber(ARGV[i + 5]), start = ARGV[i + 6]}
  end
  return claims
end
local function stateOf(c)
  local it = open(c.kind, c.key, c.windowMs)
  if c.kind == 'w' then
    local missing = it.s + it.h + c.amount - c.limit
    local free = windowFree(it, missing > 0 and missing or 1)
    if free == 0 and it.h > 0 then free = 1000 end
    return {str(it.s + it.h), str(free), '0'}
  elseif c.kind == 'g' then return {str(it.used), '0', '0'} end
  local p = periodOf(it, c.start)
  if p == nil then return {'0', '0', '0'} end
  roll(p, c.windowMs)
  return {str(p.s + p.h), str(lastBucket(p, p.s + p.h + math.max(1, c.least) - c.limit)), str(p.h)}
end

-- The name of a tally for shares and recalls.
local function nameOf(kind, key, start) return kind == 'b' and 'b' .. key .. ' ' .. start or kind .. key end
-- When the recall of a tally ends, in microseconds; nil when it is not recalled.
local function markOf(name)
  local mark = redis.call('GET', base .. 'x:' .. name)
  if mark and tonumber(mark) > us then return mark end
  return nil
end
-- Number of owners that have a share of a tally and have not seen its recall yet.
local function unasked(name)
  local owners = redis.call('SMEMBERS', base .. 'l:' .. name)
  if #owners == 0 then return 0 end
  local mark, count = markOf(name), 0
  for _, owner in ipairs(owners) do
    local packed = redis.call('GET', base .. 'r:s:' .. owner .. ':' .. name)
    if not packed then redis.call('SREM', base .. 'l:' .. name, owner)
    elseif not mark or cmsgpack.unpack(packed).recallSeen ~= mark then count = count + 1 end
  end
  return count
end
${endingsPrelude}${costsPrelude}-- An owner has reported, or has nothing to report.
local function gathered(owner)
  redis.call('ZREM', base .. 'awaited', owner)
  redis.call('SADD', base .. 'gathered', owner)
  redis.call('PEXPIRE', base .. 'gathered', str(costsKeptMs))
end
local function isAlive(owner)
  local untilMs = redis.call('ZSCORE', base .. 'owners', owner)
  return untilMs ~= false and tonumber(untilMs) >= ms
end
`;
