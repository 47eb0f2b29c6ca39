import type { LimitHeader } from "#core/index.ts";

/** A caller's own limit in OpenAI's header names. */
export function addOpenaiLimitHeaders(
  out: Record<string, string>,
  unit: "requests" | "tokens",
  { limit, remaining, resetMs }: LimitHeader,
): void {
  if (unit === "requests") {
    out["x-ratelimit-limit-requests"] = String(limit);
    out["x-ratelimit-remaining-requests"] = String(remaining);
    out["x-ratelimit-reset-requests"] = duration(resetMs);
  } else {
    out["x-ratelimit-limit-tokens"] = String(limit);
    out["x-ratelimit-remaining-tokens"] = String(remaining);
    out["x-ratelimit-reset-tokens"] = duration(resetMs);
  }
}

/** OpenAI writes durations as `12ms`, `1s`, `6m0s`. */
function duration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
