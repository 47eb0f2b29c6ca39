/**
 * Reports usage of shares and leases more. A share is a reservation of its owner (`r:s:<owner>:<name>`, one claim, of a window with the
 * kind `W`). `seq` is the number of the last message that was applied, so that a repeated one is not applied twice.
 *
 * ARGV: owner, then for each share: kind, key, period, limit, windowMs, message number, amount in use (by running calls; of a window, by
 * calls that a later message reports), amount returned, amount wanted, number of uses, number of costs; for each use of a window its age in
 * milliseconds (for a correction: `@` and the part it was counted in) and the amount; for each cost of a budget: attempt, amount, age in
 * milliseconds.
 *
 * Answers {-2} when the owner's lease has lapsed, else {1} and six values for each share: amount held, amount used of the tally (shares
 * included), milliseconds until some of it is free, amount of a budget that is reserved, whether it is recalled, and the parts that
 * uses were counted in.
 */
export const lease = `
local owner, i, answer = ARGV[3], 4, {1}
if not isAlive(owner) then return {-2} end
lapse(4)
local owners = math.max(1, redis.call('ZCARD', base .. 'owners'))
local shares = {}
local function addCosts(it, key, start, from, count)
  for n = from, from + 3 * count - 1, 3 do addCost(it, key, start, ARGV[n], ARGV[n + 1], tonumber(ARGV[n + 2])) end
  trimCosts(key)
  it.changed = it.exists
end
while i <= #ARGV do
  local kind, key, start, limit, windowMs = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4])
  local seq, inUse, give, want = tonumber(ARGV[i + 5]), tonumber(ARGV[i + 6]), tonumber(ARGV[i + 7]), tonumber(ARGV[i + 8])
  local uses, costs = tonumber(ARGV[i + 9]), tonumber(ARGV[i + 10])
  i = i + 11
  local name = nameOf(kind, key, start)
  local id = 's:' .. owner .. ':' .. name
  local packed = redis.call('GET', base .. 'r:' .. id)
  local r = packed and cmsgpack.unpack(packed) or {marks = ''}
  -- The lease had lapsed and the money was kept.
  if r.money then redis.call('SREM', base .. 'h:' .. owner, id) end
  r.money = nil
  local it = open(kind, key, windowMs)
  local p = kind == 'b' and (periodOf(it, start) or (inUse > 0 and addPeriod(it, start, false))) or nil
  local done = r.seq == seq
  local before = 0
  if r.lapsed then windowCorrect(it, r.lapsed, r.v, -r.claims[1].amount)
  elseif packed then before = r.claims[1].amount end
  local after = before
  if not done then
    local marks = {}
    for n = i, i + 2 * uses - 1, 2 do
      local amount, corrected, v = tonumber(ARGV[n + 1]), string.match(ARGV[n], '^@(%d+):?(%d*)$')
      if corrected then windowCorrect(it, tonumber(corrected), v, amount)
      else
        local part = math.min(math.floor((ms - tonumber(ARGV[n])) / it.part), it.n)
        windowAdd(it, part, amount)
        after = after - amount
        marks[#marks + 1] = it.v == '' and str(part) or str(part) .. ':' .. it.v
      end
    end
    r.marks = table.concat(marks, ',')
    after = math.max(0, after - give)
  end
  i = i + 2 * uses
  if costs > 0 then addCosts(it, key, start, i, costs) end
  i = i + 3 * costs
  -- What is in use was granted before, so it is held again even if the lease lapsed.
  after = math.max(after, inUse)
  if kind == 'b' and p == nil then after = 0 end
  local function setHeld(amount)
    local more = amount - before
    if more == 0 then return end
    if kind == 'w' then it.h, it.changed = math.max(0, it.h + more), true
    elseif kind == 'g' then it.used, it.add = it.used + more, it.add + more
    else p.h, p.changed, it.changed = p.h + more, true, true end
    before = amount
  end
  setHeld(after)
  local mark = markOf(name)
  if mark then r.recallSeen = mark
  elseif want > 0 and not done and (kind ~= 'b' or (p and p.k)) then
    local used = kind == 'w' and it.s + it.h or kind == 'g' and it.used or p.s + p.h
    local more = math.floor(math.min(want, (limit - used) / (2 * owners)))
    if more > 0 and more < inf then setHeld(after + more) end
  end
  shares[#shares + 1] = {id = id, name = name, it = it, p = p, kind = kind, mark = mark, limit = limit, r = r,
    claim = {kind = kind == 'w' and 'W' or kind, key = key, amount = before, limit = limit, windowMs = windowMs, start = start}}
  r.seq, r.owner, r.share, r.at, r.held, r.lapsed = seq, owner, name, ms, inf, nil
end
for _, s in ipairs(shares) do
  local r, c, it = s.r, s.claim, s.it
  local used = s.kind == 'w' and it.s + it.h or s.kind == 'g' and it.used or s.p and s.p.s + s.p.h or 0
  for _, v in ipairs({str(c.amount), str(used), s.kind == 'w' and str(windowFree(it, 1)) or '0', str(s.p and s.p.h or 0),
    s.mark and '1' or '0', r.marks or ''}) do answer[#answer + 1] = v end
end
write()
for _, s in ipairs(shares) do
  local r = s.r
  r.claims = {s.claim}
  if s.claim.amount > 0 then
    keep(s.id, r)
    redis.call('SADD', base .. 'l:' .. s.name, owner)
    redis.call('PEXPIRE', base .. 'l:' .. s.name, str(keepMs))
  else
    -- Kept for a while, so that a repeated message is recognized.
    redis.call('SET', base .. 'r:' .. s.id, cmsgpack.pack(r), 'PX', str(repliesKeptMs))
    redis.call('SREM', base .. 'l:' .. s.name, owner)
    redis.call('SREM', base .. 'o:' .. owner, s.id)
  end
end
return answer
`;

/**
 * Recalls the idle shares of a tally, and pauses leasing of it. ARGV: kind, key, period, milliseconds of the pause.
 * Answers {number of owners that have not seen the recall yet}.
 */
export const recall = `
local name = nameOf(ARGV[3], ARGV[4], ARGV[5])
lapse(1000)
if not markOf(name) then
  redis.call('SET', base .. 'x:' .. name, str(us + tonumber(ARGV[6]) * 1000), 'PX', str(repliesKeptMs))
  local tag = string.match(KEYS[1], '^{.-}')
  for _, owner in ipairs(redis.call('SMEMBERS', base .. 'l:' .. name)) do
    local inbox = tag .. ':recalls:' .. owner
    redis.call('RPUSH', inbox, name)
    redis.call('LTRIM', inbox, -1000, -1)
    redis.call('PEXPIRE', inbox, str(repliesKeptMs))
  end
end
return {unasked(name)}
`;
