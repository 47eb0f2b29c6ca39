import { prelude } from "./lua-prelude.ts";

/** Lua: key that marks an owner whose journal was recovered. It is outside of epochs, so that it outlives a reset. */
const adoptedName = `
local function adoptedName(epochKey, owner) return string.match(epochKey, '^{.-}') .. ':adopted:' .. owner end`;

/** Lua: key that marks an epoch that was ended on purpose, to count a recovered journal. The same as `resetKey`. */
const resetName = `
local function resetName(epochKey, epoch) return string.match(epochKey, '^{.-}') .. ':reset:' .. epoch end`;

export function resetKey(epochKey: string, epoch: string): string {
  return `${epochKey.slice(0, -"epoch".length)}reset:${epoch}`;
}

/**
 * Joins the epoch. An epoch ends with the server's run id or replication id, because a restart or failover may have lost data.
 *
 * KEYS: epoch, seeding lock, installation. ARGV: name for a new epoch; milliseconds of its lock (empty: do not begin one); the name
 * that this process proposed before (a lock under it is its own, although the answer was lost); its installation (empty: do not claim
 * the counter); milliseconds for which the installation keeps the counter without renewal; a time in milliseconds for tests.
 *
 * Answers {state, epoch, version, policy, server time in milliseconds}. States:
 * - `others`: another installation uses the counter.
 * - `ready`: the epoch counts.
 * - `gather`: a live process has not reported to the epoch yet.
 * - `seed`: the caller is to seed this new epoch.
 * - `wait`: another process seeds it.
 */
export const enter = `
local info = redis.call('INFO', 'server')
local run = string.match(info, 'run_id:(%w+)') or ''
local history = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
local mark = string.sub(run, 1, 12) .. string.sub(history, 1, 12)
local version = string.match(info, 'valkey_version:([%d.]+)') or string.match(info, 'redis_version:([%d.]+)') or ''
local policy = string.match(redis.call('INFO', 'memory'), 'maxmemory_policy:([%w-]+)') or ''
local time = redis.call('TIME')
local now = ARGV[6] ~= '' and ARGV[6] or tostring(tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local holder = redis.call('GET', KEYS[3])
if ARGV[4] ~= '' then
  if holder and holder ~= ARGV[4] then return {'others', '', version, policy, now} end
  redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5])
end
local epoch = redis.call('GET', KEYS[1])
if epoch and string.sub(epoch, 1, #mark + 1) == mark .. '-' then
  local awaited = string.match(KEYS[1], '^{.-}') .. ':' .. epoch .. ':awaited'
  redis.call('ZREMRANGEBYSCORE', awaited, '-inf', now)
  return {redis.call('EXISTS', awaited) == 1 and 'gather' or 'ready', epoch, version, policy, now}
end
if ARGV[2] == '' then return {'wait', '', version, policy, now} end
local next = mark .. '-' .. ARGV[1]
local held = redis.call('GET', KEYS[2])
if not held or (ARGV[3] ~= '' and held == mark .. '-' .. ARGV[3]) then
  redis.call('SET', KEYS[2], next, 'PX', ARGV[2])
  return {'seed', next, version, policy, now}
end
return {'wait', '', version, policy, now}
`;

/**
 * Begins the epoch after seeding. KEYS: epoch, lock. ARGV: the new epoch, time in milliseconds, when the ledger was read, then live
 * processes and the remaining milliseconds of their leases: they have to report first. Answers {1}, or {0} when the lock was lost.
 */
export const publish = `${adoptedName}
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {0} end
redis.call('SET', KEYS[1], ARGV[1])
-- Other processes may resend recent costs, so readings must recognize costs of the last minute.
local base = string.match(KEYS[1], '^{.-}') .. ':' .. ARGV[1] .. ':'
redis.call('ZADD', base .. 'ledger', string.format('%.0f', (tonumber(ARGV[2]) - 60000) * 1000), 'begin')
redis.call('ZADD', base .. 'dead', string.format('%.0f', tonumber(ARGV[2]) + 60000), 'begin')
redis.call('SET', base .. 'seeded', ARGV[3], 'PX', '600000')
for i = 4, #ARGV, 2 do
  -- Everything of a recovered owner is in the ledger.
  if redis.call('EXISTS', adoptedName(KEYS[1], ARGV[i])) == 0 then
    redis.call('ZADD', base .. 'awaited', string.format('%.0f', tonumber(ARGV[2]) + tonumber(ARGV[i + 1])), ARGV[i])
  end
end
redis.call('DEL', KEYS[2])
return {1}
`;

/** Renews the seeding lock. KEYS: epoch, lock. ARGV: the new epoch, milliseconds. */
export const holdLock = `
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return {1}
`;

/** Releases the lock after seeding failed. KEYS: epoch, lock. ARGV: the new epoch. */
export const abandon = `
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return {1}
`;

const script = (body: string): string => `${prelude}\n${body}`;

/**
 * Releases what a dead owner held and invalidates its budgets, after its journal was stored in the ledger. ARGV: owner, milliseconds
 * since its last new entry was stored (empty: none was new). Answers {1}, or {0} when there is more to release. An epoch that was
 * seeded before those entries were stored, and that the owner never reported to, lacks their rates: it is ended once, and the next
 * one is seeded with them.
 */
export const adopted = script(`${adoptedName}${resetName}
local owner, storedMs, seededMs = ARGV[3], ms - (tonumber(ARGV[4]) or inf), tonumber(redis.call('GET', base .. 'seeded'))
if seededMs and storedMs >= seededMs and redis.call('SISMEMBER', base .. 'gathered', owner) == 0
  and redis.call('SET', adoptedName(KEYS[1], owner), '1', 'NX', 'PX', str(costsKeptMs)) then
  redis.call('DEL', KEYS[1])
  redis.call('SET', resetName(KEYS[1], ARGV[1]), '1', 'PX', str(costsKeptMs))
  return {-1}
end
if endAll(base .. 'o:' .. owner, 500, true) + endAll(base .. 'h:' .. owner, 500, true) >= 500 then return {0} end
for _, name in ipairs({'owners', 'dead', 'ledger'}) do redis.call('ZREM', base .. name, owner) end
gathered(owner)
return {1}
`);

/**
 * ARGV: owner, whether its report is complete, then live owners and the remaining milliseconds of their leases. The epoch is ready
 * when all have reported. Answers {milliseconds since the ledger was read to seed it}.
 */
export const gather = script(`${adoptedName}
for i = 5, #ARGV, 2 do
  local isDone = redis.call('SISMEMBER', base .. 'gathered', ARGV[i]) == 1 or redis.call('EXISTS', adoptedName(KEYS[1], ARGV[i])) == 1
  if tonumber(ARGV[i + 1]) > 0 and not isDone then
    redis.call('ZADD', base .. 'awaited', 'NX', str(ms + tonumber(ARGV[i + 1])), ARGV[i])
  end
end
if ARGV[4] == '1' then gathered(ARGV[3]) end
return {ms - tonumber(redis.call('GET', base .. 'seeded') or 0)}
`);

/** ARGV: an owner that ends after everything it settled is in the ledger. What it holds lapses at once. */
export const leave = script(`
redis.call('ZADD', base .. 'owners', 'XX', '0', ARGV[3])
lapse(1000)
gathered(ARGV[3])
redis.call('ZREM', base .. 'ledger', ARGV[3])
return {1}
`);

/** ARGV: count. Answers random ids of reservations that belong to no owner, each with its age in milliseconds, and extends their life. */
export const lasting = script(`
local ids, answer = redis.call('SRANDMEMBER', base .. 'o:', tonumber(ARGV[3])), {}
for _, id in ipairs(ids) do
  local packed = redis.call('GET', base .. 'r:' .. id)
  if packed then
    redis.call('PEXPIRE', base .. 'r:' .. id, str(keepMs))
    answer[#answer + 1] = id
    answer[#answer + 1] = str(math.max(0, ms - cmsgpack.unpack(packed).at))
  else redis.call('SREM', base .. 'o:', id) end
end
return answer
`);

/** ARGV for each use of a window: key, amount, age in milliseconds, window in milliseconds. */
export const seed = script(`
for i = 3, #ARGV, 4 do
  local w = open('w', ARGV[i], tonumber(ARGV[i + 3]))
  windowAdd(w, math.floor((ms - tonumber(ARGV[i + 2])) / w.part), tonumber(ARGV[i + 1]))
end
write()
return {1}
`);

/**
 * ARGV: owner, lease in milliseconds, up to when its settlements are in the ledger (this clock), time of the ledger's clock.
 * Answers {1}, or {-2} when the lease had lapsed and the owner must restore what it holds.
 */
export const renew = script(`
local alive = isAlive(ARGV[3])
ledgerStep(tonumber(ARGV[6]))
redis.call('ZADD', base .. 'ledger', str(math.min(ms, tonumber(ARGV[5])) * 1000), ARGV[3])
redis.call('ZREM', base .. 'dead', ARGV[3])
redis.call('PEXPIRE', base .. 'ledger', str(keepMs))
redis.call('PEXPIRE', base .. 'o:', str(keepMs))
redis.call('ZADD', base .. 'owners', str(ms + tonumber(ARGV[4])), ARGV[3])
redis.call('PEXPIRE', base .. 'owners', str(keepMs))
redis.call('PEXPIRE', base .. 'o:' .. ARGV[3], str(keepMs))
lapse(1000)
bury(1000)
return {alive and 1 or -2}
`);
