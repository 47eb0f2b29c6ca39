/**
 * How reservations and shares end: settled by their owner, lapsed with its lease (money stays held), or released when the owner's
 * journal was recovered or the wait for that is over.
 */
export const endingsPrelude = `
-- A lapsed share may have been used until its lease ended: a window counts it as of then, until its owner reports otherwise.
local function endShare(id, r, endMs)
  local c = r.claims[1]
  if c.kind == 'W' then
    local w = open('w', c.key, c.windowMs)
    r.lapsed, r.v = math.min(math.floor(endMs / w.part), w.n), w.v
    w.h, w.changed = math.max(0, w.h - c.amount), true
    windowAdd(w, r.lapsed, c.amount)
    write()
    redis.call('SET', base .. 'r:' .. id, cmsgpack.pack(r), 'PX', str(c.windowMs * 2))
  end
  redis.call('SREM', base .. 'l:' .. r.share, r.owner)
  redis.call('SREM', base .. 'o:' .. r.owner, id)
  return c.kind == 'W'
end

-- Corrects what windows count of a lapsed reservation when its owner reports how it ended after all.
local function correctLapsed(id, actuals)
  local packed = redis.call('GET', base .. 'z:' .. id)
  if not packed then return end
  local r = cmsgpack.unpack(packed)
  for i, c in ipairs(r.claims) do
    local actual = c.kind == 'w' and tonumber(actuals[i] or '')
    if actual then
      local it = open('w', c.key, c.windowMs)
      windowCorrect(it, math.floor(r.at / it.part), c.v, actual - c.amount)
    end
  end
  write()
  redis.call('DEL', base .. 'z:' .. id)
end

-- Ends a reservation. actuals: a list of strings; an empty one leaves a window as it was reserved. endMs: when the owner's lease
-- ended, if that is the reason. reread: invalidates the spending of its budgets.
local function endOne(id, actuals, endMs, reread)
  local packed = redis.call('GET', base .. 'r:' .. id)
  if not packed then
    correctLapsed(id, actuals)
    return 0
  end
  local r = cmsgpack.unpack(packed)
  if r.lapsed then return 0 end
  if r.share and endShare(id, r, endMs or ms) then return 1 end
  for i, c in ipairs(r.claims) do
    local it = open(c.kind, c.key, c.windowMs)
    if c.kind == 'w' then
      local actual = tonumber(actuals[i] or '')
      if actual then windowCorrect(it, math.floor(r.at / it.part), c.v, actual - c.amount) end
    elseif c.kind == 'g' then
      if not r.money then
        it.used = math.max(0, it.used - c.amount)
        it.add = it.add - c.amount
      end
    else
      local p = periodOf(it, c.start)
      if p then
        p.h, p.changed, it.changed = math.max(0, p.h - c.amount), true, true
        if reread then readAnew(p) end
      end
    end
  end
  write()
  redis.call('DEL', base .. 'r:' .. id)
  redis.call('SREM', base .. (r.money and 'h:' or 'o:') .. r.owner, id)
  return 1
end
local function keep(id, r)
  redis.call('SET', base .. 'r:' .. id, cmsgpack.pack(r), 'PX', str(keepMs))
  redis.call('SADD', base .. (r.money and 'h:' or 'o:') .. r.owner, id)
end
-- Changes the owner. If the previous owner's lease had ended, gauges count the reservation again.
local function takeOver(id, r, owner)
  redis.call('SREM', base .. (r.money and 'h:' or 'o:') .. r.owner, id)
  for _, c in ipairs(r.claims) do
    if c.kind == 'g' and r.money then
      local it = open('g', c.key, 0)
      it.used, it.add = it.used + c.amount, it.add + c.amount
    end
  end
  write()
  r.owner, r.money = owner, nil
  keep(id, r)
end
-- The owner's lease has ended. Money stays held (r.money) until the owner's journal is in the ledger: see adopted.
local function lapseOne(id, owner, endMs)
  redis.call('SREM', base .. 'o:' .. owner, id)
  local packed = redis.call('GET', base .. 'r:' .. id)
  if not packed then return end
  local r, money = cmsgpack.unpack(packed), false
  for _, c in ipairs(r.claims) do money = money or (c.kind == 'b' and c.amount > 0) end
  if not money then
    endOne(id, {}, endMs)
    -- Windows keep what it took. If its owner comes back, that must not be counted again.
    local windowMs = 0
    for _, c in ipairs(r.claims) do if c.kind == 'w' then windowMs = math.max(windowMs, c.windowMs) end end
    if windowMs > 0 then redis.call('SET', base .. 'z:' .. id, packed, 'PX', str(windowMs * 2)) end
    return
  end
  for _, c in ipairs(r.claims) do
    if c.kind == 'g' then
      local it = open('g', c.key, 0)
      it.used, it.add = math.max(0, it.used - c.amount), it.add - c.amount
    end
  end
  write()
  if r.share then redis.call('SREM', base .. 'l:' .. r.share, owner) end
  r.money = true
  keep(id, r)
end
-- Ends up to \`most\` reservations of one set of an owner. Returns how many it found.
local function endAll(set, most, reread)
  local ids = redis.call('SRANDMEMBER', set, most)
  for _, id in ipairs(ids) do
    if endOne(id, {}, nil, reread) == 0 then redis.call('SREM', set, id) end
  end
  return #ids
end
-- Ends up to \`most\` reservations of owners whose lease has ended, except for money. Returns how many.
local function lapse(most)
  local count = 0
  while count < most do
    local late, endMs = unpack(redis.call('ZRANGEBYSCORE', base .. 'owners', '-inf', '(' .. str(ms), 'WITHSCORES', 'LIMIT', 0, 1))
    if not late then return count end
    local ids = redis.call('SRANDMEMBER', base .. 'o:' .. late, most - count)
    if #ids == 0 then
      redis.call('ZREM', base .. 'owners', late)
      redis.call('DEL', base .. 'o:' .. late)
      redis.call('ZADD', base .. 'dead', str(ms + moneyMs), late)
    end
    for _, id in ipairs(ids) do
      lapseOne(id, late, tonumber(endMs))
      count = count + 1
    end
  end
  return count
end
-- Releases the money of owners whose journal no process has recovered in time.
local function bury(most)
  local count = 0
  while count < most do
    local late = redis.call('ZRANGEBYSCORE', base .. 'dead', '-inf', '(' .. str(ms), 'LIMIT', 0, 1)[1]
    if not late then return count end
    local ended = endAll(base .. 'h:' .. late, most - count)
    if ended == 0 then
      redis.call('ZREM', base .. 'dead', late)
      redis.call('ZREM', base .. 'ledger', late)
    end
    count = count + math.max(1, ended)
  end
  return count
end
`;
