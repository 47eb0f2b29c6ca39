import type { Clock } from "#ports/index.ts";

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
