import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { bounds, Failure } from "#core/index.ts";
import type { Clock, OpenTries, Tries, TryResult } from "#ports/index.ts";
import { rawCookieOf, type Site } from "./site.ts";

/** The longest window. The window doubles each time its attempts are used up. */
const signInTriesMsMax = 86_400_000;
/** Challenges and redirects per address and window. */
const signInStartsMax = 60;

export interface TryCounts {
  /** Attempts to guess a secret. */
  readonly guesses: Tries;
  /** Actions without sign-in that store a row. */
  readonly starts: Tries;
}

export function openTryCounts(open: OpenTries): TryCounts {
  const windows = { windowMs: bounds.signInTriesMs, windowMsMax: signInTriesMsMax };
  return {
    guesses: open({ name: "guess", max: bounds.signInTriesMax, ...windows }),
    starts: open({ name: "start", max: signInStartsMax, ...windows }),
  };
}

/** Counts one attempt for each key, or throws `rate_limit_exceeded` and counts nothing. */
export async function takeTry(tries: Tries, keys: readonly string[]): Promise<TryResult> {
  const taken = await tries.take(keys);
  if (taken.waitMs === 0) return taken;
  const minutes = Math.ceil(taken.waitMs / 60_000);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  throw new Failure("rate_limit_exceeded", `Too many attempts. Wait ${wait}, then try again.`, {
    retryAfterMs: taken.waitMs,
  });
}

/** How long a trusted browser keeps its own attempts. */
const trustedBrowserMs = 90 * 86_400_000;

/**
 * Browsers in which a user has signed in before have their own attempts, so that an attacker who locks the account does not lock out its
 * owner. Password and second factor are still required. The mark is a signed cookie with account, expiry and a random name; nothing is
 * stored in the database.
 */
export function trustedBrowsers(secret: () => string, clock: Clock) {
  const signature = (named: string, email: string): string =>
    createHmac("sha256", `known devices\n${secret()}`).update(`${named}\n${email}`).digest("base64url");
  return {
    /** A `set-cookie` line that marks the browser as trusted for this account. */
    cookie({ cookiePrefix, secure }: Site, email: string): string {
      const named = `${clock.now() + trustedBrowserMs}.${randomBytes(16).toString("base64url")}`;
      return (
        `${cookiePrefix}.device=${named}.${signature(named, email)}; Max-Age=${trustedBrowserMs / 1_000}; ` +
        `Path=/; HttpOnly; ${secure ? "Secure; " : ""}SameSite=Lax`
      );
    },
    /** Key that counts the attempts of this browser; null: unknown browser. */
    keyOf(headers: Headers, { cookiePrefix }: Site, email: string): string | null {
      const cookie = rawCookieOf(headers, `${cookiePrefix}.device`);
      const [, named, endsAt, signed] = /^((\d{13,15})\.[\w-]{22})\.([\w-]{43})$/.exec(cookie ?? "") ?? [];
      if (named === undefined || signed === undefined || Number(endsAt) < clock.now()) return null;
      const expected = Buffer.from(signature(named, email));
      return timingSafeEqual(expected, Buffer.from(signed)) ? `device:${named}` : null;
    },
  };
}
