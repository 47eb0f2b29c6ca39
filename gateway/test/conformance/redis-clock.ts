import { redisRenewMs } from "#coordination/redis/membership.ts";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";

/**
 * Lets a shared counter wait for its server in real time, but without renewing its lease or looking for other
 * processes. On a busy machine these would fall between two steps of a test whose own clock counts the lease. A claim
 * that finds the lease expired renews it.
 */
export const waitsForServer: Clock["after"] = (ms, run) =>
  ms === redisRenewMs || ms === bounds.redisWatchMs ? () => {} : systemClock.after(ms, run);
