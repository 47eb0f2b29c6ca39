import type { Clock } from "#ports/index.ts";

/** Resolves after a time, or at once when the signal aborts. */
export function passed(clock: Pick<Clock, "after">, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const stop = clock.after(ms, end);
    signal.addEventListener("abort", end, { once: true });
    function end(): void {
      stop();
      signal.removeEventListener("abort", end);
      resolve();
    }
  });
}
