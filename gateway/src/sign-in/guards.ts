import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { bounds, Failure } from "#core/index.ts";
import type { Clock, OpenTries, TakenTry, Tries } from "#ports/index.ts";
import { rawCookieOf, type Site } from "./site.ts";

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

/** How long a browser that signed in keeps its tries while the account is locked. */
const knownDeviceMs = 90 * 86_400_000;

/**
 * Browsers in which somebody has signed in before. Whoever guesses at an account from elsewhere uses up its tries and locks
 * it; the account's owner, at a browser that is known, has tries of their own and still gets in. It opens nothing: the
 * password and the second factor are asked for all the same.
 *
 * A device is a signed cookie and leaves nothing in the database: account, end and a name made by chance.
 */
export function knownDevices(secret: () => string, clock: Clock) {
  const signature = (named: string, email: string): string =>
    createHmac("sha256", `known devices\n${secret()}`).update(`${named}\n${email}`).digest("base64url");
  return {
    /** A `set-cookie` line that makes the browser known for this account. */
    cookie({ cookiePrefix, secure }: Site, email: string): string {
      const named = `${clock.now() + knownDeviceMs}.${randomBytes(16).toString("base64url")}`;
      return (
        `${cookiePrefix}.device=${named}.${signature(named, email)}; Max-Age=${knownDeviceMs / 1_000}; ` +
        `Path=/; HttpOnly; ${secure ? "Secure; " : ""}SameSite=Lax`
      );
    },
    /** What the tries of this browser at this account are counted under; null when it is not known. */
    keyOf(headers: Headers, { cookiePrefix }: Site, email: string): string | null {
      const cookie = rawCookieOf(headers, `${cookiePrefix}.device`);
      const [, named, endsAt, signed] = /^((\d{13,15})\.[\w-]{22})\.([\w-]{43})$/.exec(cookie ?? "") ?? [];
      if (named === undefined || signed === undefined || Number(endsAt) < clock.now()) return null;
      const expected = Buffer.from(signature(named, email));
      return timingSafeEqual(expected, Buffer.from(signed)) ? `device:${named}` : null;
    },
  };
}
