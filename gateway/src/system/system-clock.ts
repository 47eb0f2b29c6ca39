import type { Clock, Observer } from "#ports/index.ts";

/** setTimeout fires at once for larger values. */
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

/** Chains timers. */
function afterLong(delayMs: number, act: () => void): () => void {
  let cancel = systemClock.after(timerMsMax, () => {
    cancel = systemClock.after(delayMs - timerMsMax, act);
  });
  return () => cancel();
}

/** The wall clock counts as set if it deviates this much from the time passed. It is trusted again after clockTrustMs. */
const clockJumpMs = 5_000;
export const clockTrustMs = 600_000;

/**
 * A wall clock that ignores short changes. While wall and monotonic time agree, it is the wall clock. After a jump of more than
 * clockJumpMs it continues as time passes, and follows only if the wall clock stays changed for clockTrustMs. Money uses it: a clock that
 * is a month ahead for a minute must not begin a new month. A suspended machine is a jump too.
 */
export function steadyClock(clock: Clock, observer: Pick<Observer, "log">): Clock {
  /** Trusted difference of wall and monotonic time, and a new one that is not trusted yet. */
  let trustedOffset = clock.now() - clock.monotonic();
  let newOffset: { readonly offset: number; readonly sinceMs: number } | null = null;
  const warnOfJump = (byMs: number): void => {
    const seconds = Math.round(Math.abs(byMs) / 1_000);
    const minutes = clockTrustMs / 60_000;
    observer.log(
      "warn",
      `the clock was set ${byMs > 0 ? "forward" : "back"} by ${seconds} s; budgets and the ledger follow after ${minutes} minutes`,
    );
  };
  const now = (): number => {
    const monotonicMs = clock.monotonic();
    const wallMs = clock.now();
    const offset = wallMs - monotonicMs;
    // Small corrections are followed at once.
    if (Math.abs(offset - trustedOffset) > clockJumpMs) {
      if (newOffset === null || Math.abs(offset - newOffset.offset) > clockJumpMs) {
        newOffset = { offset, sinceMs: monotonicMs };
        warnOfJump(offset - trustedOffset);
      }
      if (monotonicMs - newOffset.sinceMs < clockTrustMs) return Math.floor(monotonicMs + trustedOffset);
    }
    trustedOffset = offset;
    newOffset = null;
    return wallMs;
  };
  return { now, monotonic: () => clock.monotonic(), after: (ms, act) => clock.after(ms, act) };
}
