/** What was tried with one key in its window. Times in milliseconds, by whichever clock whoever counts goes by. */
export interface TryWindow {
  readonly count: number;
  readonly lengthMs: number;
  readonly endsAt: number;
}

interface TryWindowRule {
  readonly max: number;
  readonly windowMs: number;
  readonly windowMsMax: number;
}

/**
 * The window that is in force now. One that was used up is followed by one twice as long; after a window that was not, or as much
 * quiet again, it begins anew.
 */
export function windowNow(known: TryWindow | null, rule: TryWindowRule, now: number): TryWindow {
  if (known !== null && now < known.endsAt) return known;
  const again = known !== null && known.count >= rule.max && now < known.endsAt + known.lengthMs;
  const lengthMs = again ? Math.min(known.lengthMs * 2, rule.windowMsMax) : rule.windowMs;
  return { count: 0, lengthMs, endsAt: now + lengthMs };
}

/** How long the next try has to wait. */
export function tryWaitMs({ count, endsAt }: TryWindow, { max }: TryWindowRule, now: number): number {
  return count < max ? 0 : Math.max(0, endsAt - now);
}
