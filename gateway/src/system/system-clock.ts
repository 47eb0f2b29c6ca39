import type { Clock, Observer } from "#ports/index.ts";

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

/** The wall clock was set if it moves this much differently from the time that passed; it is trusted again when it stays so for clockTrustMs. */
const clockJumpMs = 5_000;
export const clockTrustMs = 600_000;

/**
 * A clock whose wall is not moved by a hand for a moment. As long as wall and monotonic time agree it is the wall clock; when
 * the wall has moved by more than clockJumpMs otherwise than time passed, it goes on as time passes, and follows only
 * when the wall has stayed where it was set for clockTrustMs. Money is counted by it: a clock that is a month ahead for
 * a minute opens no new month. (A machine that slept is such a jump too; its budgets follow a few minutes later.)
 */
export function steadyClock(clock: Clock, observer: Pick<Observer, "log">): Clock {
  /** Wall minus monotonic time, as it is believed; and as it was set, when that is something else. */
  let believed = clock.now() - clock.monotonic();
  let doubted: { readonly offset: number; readonly sinceMs: number } | null = null;
  const tell = (byMs: number): void => {
    const seconds = Math.round(Math.abs(byMs) / 1_000);
    const minutes = clockTrustMs / 60_000;
    observer.log(
      "warn",
      `The clock was set ${byMs > 0 ? "forward" : "back"} by ${seconds} s. Budgets and the ledger follow when it stays so for ${minutes} minutes.`,
    );
  };
  const now = (): number => {
    const monotonicMs = clock.monotonic();
    const wallMs = clock.now();
    const offset = wallMs - monotonicMs;
    // Small corrections are followed at once, as they come.
    if (Math.abs(offset - believed) > clockJumpMs) {
      if (doubted === null || Math.abs(offset - doubted.offset) > clockJumpMs) {
        doubted = { offset, sinceMs: monotonicMs };
        tell(offset - believed);
      }
      if (monotonicMs - doubted.sinceMs < clockTrustMs) return Math.floor(monotonicMs + believed);
    }
    believed = offset;
    doubted = null;
    return wallMs;
  };
  return { now, monotonic: () => clock.monotonic(), after: (ms, act) => clock.after(ms, act) };
}
