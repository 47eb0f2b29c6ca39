import { randomUUID } from "node:crypto";
import { afterRunningFor, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { readRedisAddress } from "./redis-address.ts";
import { reasonOf } from "./redis-failure.ts";
import { openRedisLink } from "./redis-link.ts";
import { scripts } from "./scripts.ts";

/** What a Redis says of itself, or why it cannot be used, in one line without secrets. A probe is written there and removed. */
export interface RedisFacts {
  readonly shown: string;
  readonly problem: string | null;
  readonly version: string;
  /** Its `maxmemory-policy`. */
  readonly policy: string;
}

/** Asks once, within the bounds that a gateway has for connecting and for an answer. Never throws for what it is there to find. */
export async function examineRedis(url: string, clock: Clock): Promise<RedisFacts> {
  let shown = "SLUICE_REDIS_URL";
  const late = new AbortController();
  let stop = afterRunningFor(clock, bounds.redisConnectMs, () => late.abort());
  try {
    const address = readRedisAddress(url);
    shown = address.shown;
    const link = await openRedisLink(address, () => undefined, late.signal);
    try {
      stop();
      stop = afterRunningFor(clock, bounds.redisConnectMs, () => late.abort());
      const key = "{sluice}:epoch";
      const asked = link.send(key, [
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
      const answer = await Promise.race([asked, lateness(late.signal)]);
      if (!Array.isArray(answer)) throw new Error("its answer is not one of our scripts'.");
      const probed = link.send(key, ["EVAL", probe, "1", `{sluice}:probe:${randomUUID()}`]);
      await Promise.race([probed, lateness(late.signal)]);
      return { shown, problem: null, version: String(answer[2]), policy: String(answer[3]) };
    } finally {
      link.close();
    }
  } catch (thrown) {
    return { shown, problem: reasonOf(thrown), version: "", policy: "" };
  } finally {
    stop();
  }
}

function lateness(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(new Error("it does not answer in time.")), { once: true });
  return promise;
}

/** KEYS: a key that nobody has. Whether this user may write and read what the others write: each kind of value, for a moment. */
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
