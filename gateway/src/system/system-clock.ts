import type { Clock } from "#ports/index.ts";

/** setTimeout counts in 31 bits and fires at once beyond them. */
const timerMsMax = 2_147_483_647;

export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs: number, act: () => void): () => void {
    if (delayMs > timerMsMax) return afterLong(delayMs, act);
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  },
});

/** A wait longer than one timer can hold is made of several. */
function afterLong(delayMs: number, act: () => void): () => void {
  let cancel = systemClock.after(timerMsMax, () => {
    cancel = systemClock.after(delayMs - timerMsMax, act);
  });
  return () => cancel();
}
