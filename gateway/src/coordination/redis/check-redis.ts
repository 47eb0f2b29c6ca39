import { randomUUID } from "node:crypto";
import { afterRunningFor, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { readRedisAddress } from "./redis-address.ts";
import { notOurScript, redisFailureReason } from "./redis-failure.ts";
import { openRedisLink, rejectOnAbort } from "./redis-link.ts";
import { scripts } from "./scripts.ts";

/** `problem`: why it cannot be used, in one line without secrets. */
export interface RedisFacts {
  readonly displayUrl: string;
  readonly problem: string | null;
  readonly version: string;
  /** Its `maxmemory-policy`. */
  readonly policy: string;
}

/** Connects once and writes and removes a probe, within the gateway's timeouts. Reports problems in its result. */
export async function checkRedis(url: string, clock: Clock): Promise<RedisFacts> {
  let displayUrl = "SLUICE_REDIS_URL";
  const late = new AbortController();
  let stop = afterRunningFor(clock, bounds.redisConnectMs, () => late.abort());
  try {
    const address = readRedisAddress(url);
    displayUrl = address.displayUrl;
    const link = await openRedisLink(address, () => undefined, late.signal);
    try {
      stop();
      stop = afterRunningFor(clock, bounds.redisConnectMs, () => late.abort());
      const key = "{sluice}:epoch";
      const entered = link.send(key, [
        "EVAL",
        scripts.enter,
        "3",
        key,
        "{sluice}:seeding",
        "{sluice}:installation",
        "",
        "",
        "",
        "",
        "",
      ]);
      const answer = await Promise.race([entered, rejectOnAbort(late.signal)]);
      if (!Array.isArray(answer)) throw new Error(notOurScript);
      const probed = link.send(key, ["EVAL", probe, "1", `{sluice}:probe:${randomUUID()}`]);
      await Promise.race([probed, rejectOnAbort(late.signal)]);
      return { displayUrl, problem: null, version: String(answer[2]), policy: String(answer[3]) };
    } finally {
      link.close();
    }
  } catch (thrown) {
    return { displayUrl, problem: redisFailureReason(thrown), version: "", policy: "" };
  } finally {
    stop();
  }
}

/** KEYS: an unused key. Writes each type of value that the scripts write, to check the user's permissions. */
const probe = `
local k = KEYS[1]
redis.call('SET', k, '1', 'PX', 10000)
local there = redis.call('GET', k)
redis.call('PEXPIRE', k, 10000)
redis.call('DEL', k)
redis.call('HSET', k, 'a', '1')
redis.call('DEL', k)
redis.call('ZADD', k, 1, 'a')
redis.call('DEL', k)
redis.call('SADD', k, 'a')
redis.call('DEL', k)
redis.call('RPUSH', k, 'a')
redis.call('DEL', k)
return {there}
`;
