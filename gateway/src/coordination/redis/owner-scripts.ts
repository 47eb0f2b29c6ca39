import { prelude } from "./lua-prelude.ts";

/** Lua: name of the key that marks an owner whose journal was taken over. It belongs to no epoch, so it outlives a reset. */
const adoptedName = `
local function adoptedName(epochKey, owner) return string.match(epochKey, '^{.-}') .. ':adopted:' .. owner end`;

/** Lua: name of the key that marks an epoch that was ended to count an adopted journal: its data were not lost. `resetKey` is the same. */
const resetName = `
local function resetName(epochKey, epoch) return string.match(epochKey, '^{.-}') .. ':reset:' .. epoch end`;

export function resetKey(epochKey: string, epoch: string): string {
  return `${epochKey.slice(0, -"epoch".length)}reset:${epoch}`;
}

/**
 * Joins the epoch. KEYS: epoch, lock of the seeding, whose counter it is. ARGV: a name for a new epoch, milliseconds until its lock
 * is renewed (left empty, none is begun), and the name that this process gave before: a lock that it holds under that, without having
 * heard so, is its own; its installation (left empty, it only looks), and the milliseconds for which the counter is that one's without
 * a word of it; and a time in milliseconds for tests. Answers {"others", ""…} where it is another one's, whose tasks' money would be taken for forgotten.
 * An epoch ends with its server's run, and with the history that its server replicates: what a restart or a failover may have lost
 * is not guessed, also where one that was a replica meanwhile is the master again. Answers {"ready", epoch,
 * version, policy, milliseconds of its clock}, {"gather", epoch …} while a living process has not yet told what it holds, {"seed", epoch …}
 * for whoever is to seed the new one, or {"wait"} while another does.
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
 * KEYS: epoch, lock. ARGV: the new epoch, milliseconds, when the ledger was read for it, then living processes and for how many
 * milliseconds their leases hold: nobody counts in it before they have told what they hold. Answers {1}, or {0} when its seeding took too long and another one seeds.
 */
export const publish = `${adoptedName}
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {0} end
redis.call('SET', KEYS[1], ARGV[1])
-- What others settled lately may be told anew a moment from now: readings until then tell apart what the last minute brought.
local base = string.match(KEYS[1], '^{.-}') .. ':' .. ARGV[1] .. ':'
redis.call('ZADD', base .. 'ledger', string.format('%.0f', (tonumber(ARGV[2]) - 60000) * 1000), 'begin')
redis.call('ZADD', base .. 'dead', string.format('%.0f', tonumber(ARGV[2]) + 60000), 'begin')
redis.call('SET', base .. 'seeded', ARGV[3], 'PX', '600000')
for i = 4, #ARGV, 2 do
  -- All that an adopted owner did is in the ledger: nobody waits for it.
  if redis.call('EXISTS', adoptedName(KEYS[1], ARGV[i])) == 0 then
    redis.call('ZADD', base .. 'awaited', string.format('%.0f', tonumber(ARGV[2]) + tonumber(ARGV[i + 1])), ARGV[i])
  end
end
redis.call('DEL', KEYS[2])
return {1}
`;

/** KEYS: epoch, lock. ARGV: the new epoch, milliseconds. Whoever seeds still does. */
export const holdLock = `
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return {1}
`;

/** KEYS: epoch, lock. ARGV: the new epoch, whose seeding failed: somebody else may seed at once. */
export const abandon = `
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return {1}
`;

const script = (body: string): string => `${prelude}\n${body}`;

/**
 * ARGV: an owner whose journal is in the ledger now, and how many milliseconds ago its last new entry was stored (empty: none was
 * new). Frees what it held and has its budgets read anew. Answers {1} when that is done, or {0}: there is more. An epoch that was
 * seeded before those entries were stored, and that the owner never reported to, lacks their rates. Then the epoch ends, once for each
 * owner, and the next one is seeded with them.
 */
export const adopted = script(`${adoptedName}${resetName}
local owner, storedMs, seededMs = ARGV[3], ms - (tonumber(ARGV[4]) or inf), tonumber(redis.call('GET', base .. 'seeded'))
if seededMs and storedMs >= seededMs and redis.call('SISMEMBER', base .. 'gathered', owner) == 0
  and redis.call('SET', adoptedName(KEYS[1], owner), '1', 'NX', 'PX', str(toldMaxMs)) then
  redis.call('DEL', KEYS[1])
  redis.call('SET', resetName(KEYS[1], ARGV[1]), '1', 'PX', str(toldMaxMs))
  return {-1}
end
if endAll(base .. 'o:' .. owner, 500, true) + endAll(base .. 'h:' .. owner, 500, true) >= 500 then return {0} end
for _, name in ipairs({'owners', 'dead', 'ledger'}) do redis.call('ZREM', base .. name, owner) end
gathered(owner)
return {1}
`);

/**
 * ARGV: owner, whether it has told all that it holds, then owners that it knows to live and for how many milliseconds their leases
 * hold. The epoch is ready when all of them have told. Answers {how many milliseconds ago the ledger was read to seed it}.
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

/** ARGV: owner. It ends, and all that it settled is in the ledger: what it holds lapses at once. */
export const leave = script(`
redis.call('ZADD', base .. 'owners', 'XX', '0', ARGV[3])
lapse(1000)
gathered(ARGV[3])
redis.call('ZREM', base .. 'ledger', ARGV[3])
return {1}
`);

/** ARGV: how many. Answers ids of reservations that belong to no owner, any of them, each with its age in milliseconds; each is kept for another while. */
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

/** ARGV, for each use of a window: key, amount, age in milliseconds, window in milliseconds. */
export const seed = script(`
for i = 3, #ARGV, 4 do
  local w = open('w', ARGV[i], tonumber(ARGV[i + 3]))
  windowAdd(w, math.floor((ms - tonumber(ARGV[i + 2])) / w.part), tonumber(ARGV[i + 1]))
end
write()
return {1}
`);

/**
 * ARGV: owner, lease in milliseconds, until when what it settled is in the ledger, in milliseconds of this clock, and the time by the
 * ledger's clock. Answers {1}, or {-2} when it had lapsed and must restore what it holds.
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
