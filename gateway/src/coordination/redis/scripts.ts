import { createHash } from "node:crypto";
import { prelude } from "./lua-prelude.ts";
import { abandon, adopted, enter, gather, holdLock, lasting, leave, publish, renew, seed } from "./owner-scripts.ts";
import type { RedisLink } from "./redis-link.ts";
import { lease, recall } from "./shares/share-scripts.ts";

const script = (body: string): string => `${prelude}\n${body}`;

/**
 * ARGV: id, owner, claims. Answers {1, held, states…}, {0, index, reason, used, freeInMs, held, number of owners to recall shares from},
 * or {-2} when the owner's lease has lapsed.
 */
const reserve = `
local id, owner, claims = ARGV[3], ARGV[4], readClaims(5)
if owner ~= '' and not isAlive(owner) then return {-2} end
lapse(4)
local there = redis.call('GET', base .. 'r:' .. id)
if there then
  -- A repeated request: the answer was lost, or another process takes the reservation over.
  local r = cmsgpack.unpack(there)
  if r.owner ~= owner or r.money then takeOver(id, r, owner) end
  local answer = {1, r.held == inf and 'inf' or str(r.held)}
  for _, c in ipairs(claims) do for _, v in ipairs(stateOf(c)) do answer[#answer + 1] = v end end
  return answer
end
-- All claims or none: nothing is written before all of them fit. moneyMax: the most that budgets are asked for.
local function take(moneyMax)
  local held, states = inf, {}
  for i, c in ipairs(claims) do
    local it = open(c.kind, c.key, c.windowMs)
    local amount = c.amount
    if c.kind == 'w' then
      if not (it.s + it.h + amount <= c.limit) then return i, 'limit' end
      windowAdd(it, it.n, amount)
      c.v = it.v
      states[i] = {str(it.s + it.h), str(windowFree(it, 1)), '0'}
    elseif c.kind == 'g' then
      if not (it.used + amount <= c.limit) then return i, 'limit' end
      it.used, it.add = it.used + amount, it.add + amount
      states[i] = {str(it.used), '0', '0'}
    else
      amount = math.min(amount, moneyMax)
      local p = periodOf(it, c.start)
      local unchecked = c.limit == inf and amount == amount
      if p == nil and unchecked then p = addPeriod(it, c.start, false) end
      if p == nil then return i, 'unknown' end
      roll(p, c.windowMs)
      if not unchecked and not p.k then return i, 'unknown' end
      local used = p.s + p.h
      if not unchecked and (used >= c.limit or not (used + amount <= c.limit)) then return i, 'limit' end
      p.h, p.changed, it.changed, held = p.h + amount, true, true, amount
      states[i] = {str(p.s + p.h), str(lastBucket(p, 1)), str(p.h)}
    end
    c.taken = amount
  end
  return nil, nil, held, states
end
local function room()
  local left = inf
  for _, c in ipairs(claims) do
    if c.kind == 'b' and c.limit ~= inf then
      local p = periodOf(open(c.kind, c.key, 0), c.start)
      roll(p, c.windowMs)
      left = math.min(left, (p and p.k) and c.limit - p.s - p.h or 0)
    end
  end
  return left
end
local function attempt()
  local refused, why, held, states = take(inf)
  if refused and why == 'limit' and claims[refused].least < claims[refused].amount then
    forget()
    local left = room()
    if left > 0 and left >= claims[refused].least then refused, why, held, states = take(left) end
  end
  return refused, why, held, states
end
local refused, why, held, states = attempt()
if refused then
  forget()
  -- Before refusing, release what dead owners still hold.
  if lapse(1000) + bury(1000) > 0 then
    refused, why, held, states = attempt()
    if refused then forget() end
  end
end
if refused then
  local c = claims[refused]
  local state = stateOf(c)
  return {0, refused - 1, why, state[1], state[2], state[3], why == 'limit' and unasked(nameOf(c.kind, c.key, c.start)) or 0}
end
write()
local kept = {}
for i, c in ipairs(claims) do
  kept[i] = {kind = c.kind, key = c.key, amount = c.taken, limit = c.limit, windowMs = c.windowMs, start = c.start, v = c.v}
end
keep(id, {owner = owner, held = held, at = ms, claims = kept})
local answer = {1, held == inf and 'inf' or str(held)}
for _, s in ipairs(states) do for _, v in ipairs(s) do answer[#answer + 1] = v end end
return answer
`;

/** ARGV: owner (empty: no process), then for each reservation: id, age in milliseconds, number of claims, claims. Answers {number that were missing}. */
const restore = script(`
local owner, i, missing = ARGV[3], 4, 0
while i <= #ARGV do
  local id, at, count = ARGV[i], ms - tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  i = i + 3
  local r = {owner = owner, held = inf, at = at, claims = {}}
  local there = redis.call('GET', base .. 'r:' .. id)
  if there then takeOver(id, cmsgpack.unpack(there), owner) end
  local lapsed = not there and redis.call('GET', base .. 'z:' .. id)
  if lapsed then
    lapsed = cmsgpack.unpack(lapsed)
    r.at = lapsed.at
    redis.call('DEL', base .. 'z:' .. id)
  end
  for n = 1, count do
    if not there then
      local c = {kind = ARGV[i], key = ARGV[i + 1], limit = tonumber(ARGV[i + 2]), amount = tonumber(ARGV[i + 3]),
        windowMs = tonumber(ARGV[i + 5]), start = ARGV[i + 6]}
      local it = open(c.kind, c.key, c.windowMs)
      if c.kind == 'w' then
        if lapsed then c.v = lapsed.claims[n].v
        else
          windowAdd(it, math.floor(at / it.part), c.amount)
          c.v = it.v
        end
      elseif c.kind == 'g' then it.used, it.add = it.used + c.amount, it.add + c.amount
      else
        local p = periodOf(it, c.start) or addPeriod(it, c.start, false)
        p.h, p.changed, it.changed, r.held = p.h + c.amount, true, true, c.amount
      end
      r.claims[n] = c
    end
    i = i + 7
  end
  if not there then
    write()
    keep(id, r)
    missing = missing + 1
  end
end
return {missing}
`);

/** ARGV: id, actual amount of each claim. Answers {1}, or {0} when it had ended before. */
const settle = `
local actuals = {}
for i = 4, #ARGV do actuals[#actuals + 1] = ARGV[i] end
return {endOne(ARGV[3], actuals)}
`;

/**
 * ARGV: id, amount, least, then the keys of budgets with `fail: open`. Other budgets give nothing while their spending is not loaded.
 * Answers {additional amount held, number of owners to recall shares from before giving up}.
 */
const topUp = `
local id, room, least, isOpen = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), {}
for i = 6, #ARGV do isOpen[ARGV[i]] = true end
local packed = redis.call('GET', base .. 'r:' .. id)
if not packed then return {'0', 0} end
local wanted, leased = room, 0
local r = cmsgpack.unpack(packed)
for _, c in ipairs(r.claims) do
  if c.kind == 'b' then
    local p = periodOf(open('b', c.key, 0), c.start)
    roll(p, c.windowMs)
    local counts = p and (p.k or isOpen[c.key] or c.limit == inf)
    room = math.min(room, counts and c.limit - p.s - p.h or 0)
  end
end
if room < wanted then
  for _, c in ipairs(r.claims) do
    if c.kind == 'b' then leased = leased + unasked(nameOf('b', c.key, c.start)) end
  end
end
if not (room > 0 and room >= least) then return {'0', leased} end
for _, c in ipairs(r.claims) do
  if c.kind == 'b' then
    local b = open('b', c.key, 0)
    local p = periodOf(b, c.start)
    p.h, p.changed, b.changed, c.amount = p.h + room, true, true, c.amount + room
  end
end
r.held = r.held + room
write()
keep(id, r)
return {str(room), leased}
`;

/** ARGV: a claim. Answers {used, freeInMs, held}. */
const peek = `
lapse(100)
return stateOf(readClaims(3)[1])
`;

/**
 * ARGV: key, period, owner, whether a reading begins, time of the ledger's clock. Answers {1} when the earlier spending is known,
 * else {0, milliseconds before that time since which settled entries may be missing from the ledger, or -1: too long}.
 */
const beginPeriod = `
local key, start, owner, anew = ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1'
local steppedMs = ledgerStep(tonumber(ARGV[7]))
local b = open('b', key, 0)
local p = periodOf(b, start) or addPeriod(b, start, false)
b.changed = true
-- For costs and invalidations by processes that do not count the budget.
local scope = string.match(key, '^budget:[^:]*:(.+)$')
if scope then
  redis.call('SADD', base .. 'k:' .. scope, key)
  redis.call('PEXPIRE', base .. 'k:' .. scope, str(keepMs))
end
local ledger = us
if not p.k then
  if anew then p.s, p.changed, p.r = 0, true, p.r and {from = p.r.from} or nil end
  local slowest
  ledger, slowest = ledgerUs()
  if us - ledger > costsKeptMs * 1000 then
    -- Costs are not remembered that long: a live owner has to catch up first.
    if slowest and isAlive(slowest) then return {0, -1} end
    ledger = us - costsKeptMs * 1000
  end
  -- Costs reported after this mark may be missing from this owner's reading.
  local mark = markName(key, start, owner, p)
  local at = str(ledger - 1)
  if anew then redis.call('SET', mark, at, 'PX', str(idleMs))
  else redis.call('SET', mark, at, 'PX', str(idleMs), 'NX') end
end
local known = p.k
write()
if known then return {1} end
return {0, math.ceil((us - ledger) / 1000) + steppedMs}
`;

/**
 * ARGV: key, period, owner, amount (of a rolling window: `@<bucket> <amount>` for each bucket), cleanFrom, again, then attempt and cost of
 * the latest entries in it. Answers {1}, or {0}.
 */
const setSpending = `
local key, start, owner = ARGV[3], ARGV[4], ARGV[5]
local b = open('b', key, 0)
local p = periodOf(b, start)
if p == nil or p.k then return {0} end
local mark = redis.call('GET', markName(key, start, owner, p))
if not mark then return {0} end
-- Costs that an earlier reading held, or that were settled before this one began, are in it, however late they were reported.
local log, stored = base .. 't:' .. key, base .. 'i:' .. key
local inReading = {}
for i = 9, #ARGV, 2 do inReading[ARGV[i]] = ARGV[i + 1] end
if p.r then
  p.s, p.r = 0, {from = p.r.from}
  for bucket, cost in string.gmatch(ARGV[6], '(@%d+) (-?%d+)') do addSpent(p, bucket, tonumber(cost)) end
else p.s = tonumber(ARGV[6]) end
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', log, '(' .. mark, '+inf')) do
  local of, attempt, cost = string.match(entry, '^(%S+) (%S+) (%S+)$')
  if of == start and not inReading[attempt] and not redis.call('ZSCORE', stored, entry) and not isBefore(key, entry, tonumber(mark)) then addSpent(p, attempt, tonumber(cost)) end
end
for attempt, cost in pairs(inReading) do
  b.q = math.max(us, b.q + 1)
  redis.call('ZADD', log, 'NX', str(b.q), start .. ' ' .. attempt .. ' ' .. cost)
  redis.call('ZADD', stored, str(us), start .. ' ' .. attempt .. ' ' .. cost)
end
redis.call('PEXPIRE', log, str(keepMs))
redis.call('ZREMRANGEBYSCORE', stored, '-inf', '(' .. str(us - costsKeptMs * 1000))
redis.call('PEXPIRE', stored, str(costsKeptMs))
p.k, p.m, p.changed, b.changed, b.a = true, tonumber(mark), true, true, ARGV[8]
b.c = math.min(b.c, tonumber(ARGV[7]))
redis.call('DEL', markName(key, start, owner, p))
write()
return {1}
`;

/** ARGV: key, period, attempt, amount, milliseconds since it was settled. Answers {1}, or {0} when the budget is not counted. */
const spend = `
local key = ARGV[3]
local b = open('b', key, 0)
addCost(b, key, ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]))
trimCosts(key)
if not b.exists then return {0} end
b.changed = true
write()
return {1}
`;

/** ARGV: scopes, such as `workspace:ws_1`. Answers {1}, and the keys of the budgets that are counted of them. */
const budgetKeys = `
local keys = {1}
for i = 3, #ARGV do
  for _, key in ipairs(redis.call('SMEMBERS', base .. 'k:' .. ARGV[i])) do keys[#keys + 1] = key end
end
return keys
`;

/** ARGV: key and period of each budget whose spending is to be invalidated. Answers {1}. */
const invalidateSpending = `
for i = 3, #ARGV, 2 do
  local b = open('b', ARGV[i], 0)
  local p = b.exists and periodOf(b, ARGV[i + 1])
  if p then
    readAnew(p)
    p.changed, b.changed = true, true
  end
  write()
end
return {1}
`;

/** Frequent scripts, which are sent in batches: see `message`. */
const operations = {
  reserve,
  settle,
  topUp,
  peek,
  beginPeriod,
  setSpending,
  spend,
  invalidateSpending,
  budgetKeys,
  lease,
  recall,
} as const;

export type Operation = keyof typeof operations;

export function isOperation(name: string): name is Operation {
  return Object.hasOwn(operations, name);
}

/**
 * Runs operations in order, as if each were a script of its own. ARGV: a JSON list of operations, each a list of its name, an empty
 * string, and its ARGV from index 3 on. Answers {a JSON list of their answers}.
 */
const message = `
local ARGV = ARGV
${prelude}
local operations = {}
${Object.entries(operations)
  .map(([name, body]) => `operations.${name} = function()${body}end`)
  .join("\n")}
local answers = {}
for i, operation in ipairs(cjson.decode(ARGV[3])) do
  ARGV = operation
  forget()
  answers[i] = operations[operation[1]]()
end
return {cjson.encode(answers)}
`;

export const scripts = Object.freeze({
  message,
  restore,
  seed,
  renew,
  adopted,
  gather,
  leave,
  lasting,
  enter,
  publish,
  holdLock,
  abandon,
});

export type ScriptName = keyof typeof scripts;

/** Runs a script by its digest; if the server does not have it, sends it whole. */
export async function runScript(
  link: RedisLink,
  script: ScriptName,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  const key = keys[0] ?? "";
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await link.send(key, ["EVALSHA", digests[script], ...rest]);
  } catch (thrown) {
    if (!(thrown instanceof Error && thrown.message.startsWith("NOSCRIPT"))) throw thrown;
    return await link.send(key, ["EVAL", scripts[script], ...rest]);
  }
}

/** -1: the epoch has ended. -2: this process's lease has lapsed. */
export function isStale(answer: readonly unknown[]): boolean {
  return answer[0] === -1 || answer[0] === -2;
}

const digests = Object.freeze(
  Object.fromEntries(
    Object.entries(scripts).map(([name, text]) => [name, createHash("sha1").update(text).digest("hex")]),
  ),
) as Readonly<Record<ScriptName, string>>;
