import type { LimitTold } from "./dialect.ts";

/** A caller's own limit in OpenAI's header names. */
export function openaiLimitHeaders(unit: "requests" | "tokens", told: LimitTold): Readonly<Record<string, string>> {
  const [limit, remaining, reset] = [String(told.limit), String(told.remaining), duration(told.resetMs)];
  return unit === "requests"
    ? {
        "x-ratelimit-limit-requests": limit,
        "x-ratelimit-remaining-requests": remaining,
        "x-ratelimit-reset-requests": reset,
      }
    : {
        "x-ratelimit-limit-tokens": limit,
        "x-ratelimit-remaining-tokens": remaining,
        "x-ratelimit-reset-tokens": reset,
      };
}

/** OpenAI writes durations as `12ms`, `1s`, `6m0s`. */
function duration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
