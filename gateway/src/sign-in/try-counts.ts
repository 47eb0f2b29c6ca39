import { bounds, Failure } from "#core/index.ts";
import type { OpenTries, TakenTry, Tries } from "#ports/index.ts";

/** The window doubles up to this while it is used up. */
const signInTriesMsMax = 86_400_000;
/** Challenges and redirects to an issuer that one address may begin in one window. */
const signInStartsMax = 60;

/** What is counted at sign-in. */
export interface TryCounts {
  /** Guesses at something secret. */
  readonly guesses: Tries;
  /** What anybody may begin, and what leaves a row. */
  readonly starts: Tries;
}

export function openTryCounts(open: OpenTries): TryCounts {
  const windows = { windowMs: bounds.signInTriesMs, windowMsMax: signInTriesMsMax };
  return {
    guesses: open({ name: "guess", max: bounds.signInTriesMax, ...windows }),
    starts: open({ name: "start", max: signInStartsMax, ...windows }),
  };
}

/** Counts one try against each key, or throws `rate_limit_exceeded` and counts nothing. */
export async function takeTry(tries: Tries, keys: readonly string[]): Promise<TakenTry> {
  const taken = await tries.take(keys);
  if (taken.waitMs === 0) return taken;
  const minutes = Math.ceil(taken.waitMs / 60_000);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  throw new Failure("rate_limit_exceeded", `Too many tries. Wait ${wait}, then try again.`, {
    retryAfterMs: taken.waitMs,
  });
}
