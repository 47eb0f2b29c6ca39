/** Lua: name of the key that marks an owner whose journal was taken over. It belongs to no epoch, so it outlives a reset. */
export const adoptedName = `
local function adoptedName(epochKey, owner) return string.match(epochKey, '^{.-}') .. ':adopted:' .. owner end`;

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
