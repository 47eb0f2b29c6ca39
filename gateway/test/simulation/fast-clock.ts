import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";

/**
 * The machine's clock, a number of times faster: leases of minutes run out within seconds. Processes with the same `from`
 * (Unix milliseconds of the real clock) live in the same time.
 */
export function fastClock(from: number, times: number, aheadMs = 0): Clock {
  return {
    now: () => Math.floor(from + (systemClock.now() - from) * times + aheadMs),
    monotonic: () => systemClock.monotonic() * times,
    after: (delayMs, act) => systemClock.after(delayMs / times, act),
  };
}
