import type { LimitHeader } from "#core/index.ts";

/** A caller's own limit in Anthropic's header names; the reset is a time, in RFC 3339. */
export function addMessagesLimitHeaders(
  out: Record<string, string>,
  unit: "requests" | "tokens",
  { limit, remaining, resetMs }: LimitHeader,
  now: number,
): void {
  const name = `anthropic-ratelimit-${unit}`;
  // Rounded up: a caller that waits until then is not refused again.
  const resetSeconds = Math.ceil((now + resetMs) / 1_000);
  out[`${name}-limit`] = String(limit);
  out[`${name}-remaining`] = String(remaining);
  out[`${name}-reset`] = new Date(resetSeconds * 1_000).toISOString().replace(".000Z", "Z");
}
