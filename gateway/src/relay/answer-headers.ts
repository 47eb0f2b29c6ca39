import type { LimitHeader, RateHeaders, Standing } from "#limits/index.ts";
import type { Pick } from "#routing/index.ts";
import type { Call } from "./call.ts";
import type { CallTally } from "./call-tally.ts";

/** Headers of an answer: what clients read of the upstream's, who served, and the caller's own limits. */
export function answerHeaders(
  call: Call,
  pick: Pick,
  tally: CallTally,
  overheadMs: number,
  upstream: Headers,
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of upstream) {
    if (passed.has(name) || name.startsWith("x-codex-")) out[name] = value;
    // The upstream's own request id under another name, for talking to the vendor's support.
    else if (name === "x-request-id") out["x-sluice-upstream-request-id"] = value;
  }
  out["x-request-id"] = call.requestId;
  out["x-sluice-provider"] = pick.deployment.provider.id;
  out["x-sluice-deployment"] = pick.deployment.id;
  out["x-sluice-attempts"] = String(tally.attempts);
  out["x-sluice-overhead-ms"] = overheadMs.toFixed(3);
  rateHeaders(tally.permit.rateHeaders(), out);
  return out;
}

/** Headers of a refusal by the limits themselves: how the caller stands against its tightest ones. */
export function standingHeaders(standings: readonly Standing[], now: number): Record<string, string> {
  const out: Record<string, string> = {};
  const rates: { requests?: LimitHeader; tokens?: LimitHeader } = {};
  for (const { name, limit, used, resetsAt } of standings) {
    if (name !== "rpm" && name !== "tpm") continue;
    const unit = name === "rpm" ? "requests" : "tokens";
    const remaining = Math.max(0, limit - used);
    if (remaining > (rates[unit]?.remaining ?? Number.POSITIVE_INFINITY)) continue;
    rates[unit] = { limit, remaining, resetMs: resetsAt === null ? 0 : Math.max(0, resetsAt * 1_000 - now) };
  }
  rateHeaders(rates, out);
  return out;
}

/** Headers of a refusal after admission. */
export function refusalHeaders(tally: CallTally): Record<string, string> {
  const out: Record<string, string> = { "x-sluice-attempts": String(tally.attempts) };
  rateHeaders(tally.permit.rateHeaders(), out);
  return out;
}

const passed: ReadonlySet<string> = new Set([
  "content-type",
  "openai-model",
  "openai-version",
  "openai-processing-ms",
  "x-reasoning-included",
  "x-models-etag",
  "request-id",
]);

/** The caller's tightest limits in OpenAI's header names. */
function rateHeaders(rates: RateHeaders, out: Record<string, string>): void {
  for (const unit of ["requests", "tokens"] as const) {
    const rate = rates[unit];
    if (rate === undefined) continue;
    out[`x-ratelimit-limit-${unit}`] = String(rate.limit);
    out[`x-ratelimit-remaining-${unit}`] = String(rate.remaining);
    out[`x-ratelimit-reset-${unit}`] = duration(rate.resetMs);
  }
}

/** OpenAI writes durations as `12ms`, `1s`, `6m0s`. */
function duration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
