import { adoptedName } from "./epoch-scripts.ts";
import { prelude } from "./lua-prelude.ts";

const script = (body: string): string => `${prelude}\n${body}`;

/**
 * ARGV: an owner whose journal is in the ledger now, and how many milliseconds ago its last new entry was stored (empty: none was
 * new). Frees what it held and has its budgets read anew. Answers {1} when that is done, or {0}: there is more. An epoch that was
 * seeded before those entries were stored, and that the owner never reported to, lacks their rates. Then the epoch ends, once for each
 * owner, and the next one is seeded with them.
 */
export const adopted = script(`${adoptedName}
local owner, storedMs, seededMs = ARGV[3], ms - (tonumber(ARGV[4]) or inf), tonumber(redis.call('GET', base .. 'seeded'))
if seededMs and storedMs >= seededMs and redis.call('SISMEMBER', base .. 'gathered', owner) == 0
  and redis.call('SET', adoptedName(KEYS[1], owner), '1', 'NX', 'PX', str(toldMaxMs)) then
  redis.call('DEL', KEYS[1])
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
