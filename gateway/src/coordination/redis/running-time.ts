import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/**
 * Calls `act` when this process has waited for `ms` while its own loop ran. The wait is counted in slices, and a slice that ends
 * late counts once: while the loop stands still no answer can be read, so that says nothing of who is to answer. What
 * arrived meanwhile is read before the next slice ends. Returns how to stop it.
 */
export function afterRunningFor(clock: Clock, ms: number, act: () => void): () => void {
  let left: number = bounds.redisWaitSlices;
  const slice = (): void => {
    left--;
    if (left < 0) act();
    else stop = clock.after(ms / bounds.redisWaitSlices, slice);
  };
  let stop: () => void = () => {};
  slice();
  return () => stop();
}

/** Acts again and again, until it is stopped or `forMs` have passed. */
export function every(clock: Clock, ms: number, forMs: number, act: () => void): () => void {
  const endMs = clock.monotonic() + forMs;
  let stop = (): void => {};
  const later = (): void => {
    stop = clock.after(ms, () => {
      if (clock.monotonic() > endMs) return;
      act();
      later();
    });
  };
  later();
  return () => stop();
}
