import { redisRenewMs } from "#coordination/redis/membership.ts";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";

/**
 * A shared counter's waits for its server, in real time, without what it does by itself now and then: renew its lease and look for other
 * processes. On a busy machine those would fall between two steps of a test whose own clock counts the lease; here a claim that finds it
 * lapsed renews it.
 */
export const waitsForServer: Clock["after"] = (ms, run) =>
  ms === redisRenewMs || ms === bounds.redisWatchMs ? () => {} : systemClock.after(ms, run);
