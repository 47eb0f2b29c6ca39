import type { LimitTold } from "../dialect.ts";

/** A caller's own limit in Anthropic's header names; the reset is a time, in RFC 3339. */
export function messagesLimitHeaders(
  unit: "requests" | "tokens",
  told: LimitTold,
  now: number,
): Readonly<Record<string, string>> {
  const name = `anthropic-ratelimit-${unit}`;
  // Rounded up: a caller that waits until then is not refused again.
  const resetSeconds = Math.ceil((now + told.resetMs) / 1_000);
  return {
    [`${name}-limit`]: String(told.limit),
    [`${name}-remaining`]: String(told.remaining),
    [`${name}-reset`]: new Date(resetSeconds * 1_000).toISOString().replace(".000Z", "Z"),
  };
}
