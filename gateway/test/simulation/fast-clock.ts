import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";

/**
 * The machine's clock, sped up, so that leases of minutes expire within seconds. Processes with the same `from` (in
 * Unix milliseconds of the real clock) share the same time.
 */
export function fastClock(from: number, times: number, aheadMs = 0): Clock {
  return {
    now: () => Math.floor(from + (systemClock.now() - from) * times + aheadMs),
    monotonic: () => systemClock.monotonic() * times,
    after: (delayMs, run) => systemClock.after(delayMs / times, run),
  };
}
