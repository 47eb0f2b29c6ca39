import type { CallSignal } from "./call-signal.ts";

/** Resolves after `ms`, or at once when the signal aborts. */
export function sleep(
  clock: { after(ms: number, act: () => void): () => void },
  ms: number,
  signal: CallSignal,
): Promise<void> {
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
