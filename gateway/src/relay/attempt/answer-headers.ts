import { type HeaderReader, nanoToUsdText } from "#core/index.ts";
import type { LimitHeader, LimitUsage, RateHeaders } from "#limits/index.ts";
import type { Dialect } from "#protocols/index.ts";
import { accountRedactor } from "#providers/index.ts";
import { capHeaders, isAgent } from "../agent-caps.ts";
import type { CallTally } from "./call-tally.ts";
import type { BegunAttempt } from "./run-attempt.ts";

/** Headers of an answer: what clients read of the upstream's, who served, and the caller's own limits. */
export function answerHeaders(attempt: BegunAttempt, upstream: HeaderReader): Record<string, string> {
  const out: Record<string, string> = {};
  const warnings = attempt.warnings.header();
  if (warnings !== null) out["x-sluice-warnings"] = warnings;
  const redactor = accountRedactor(attempt.selection.deployment.provider);
  upstream.forEach((value, name) => {
    const shownAs = passedName(name, attempt.call.facts.stream);
    if (shownAs !== null) out[shownAs] = redactor.header(value);
  });
  addOwnHeaders(attempt, out);
  return out;
}

function passedName(name: string, isStream: boolean): string | null {
  if (passed.has(name) || name.startsWith("x-codex-")) return name;
  // Of events: whoever stands between must neither keep nor gather them. Whole answers are not for any cache.
  if (name === "cache-control") return isStream ? name : null;
  // The upstream's own request id under another name, for talking to the vendor's support.
  return name === "x-request-id" ? "x-sluice-upstream-request-id" : null;
}

/** Headers of an answer that was translated: nothing of another vendor's is passed. */
export function translatedHeaders(attempt: BegunAttempt, contentType: string): Record<string, string> {
  const out: Record<string, string> = { "content-type": contentType };
  const warnings = attempt.warnings.header();
  if (warnings !== null) out["x-sluice-warnings"] = warnings;
  addOwnHeaders(attempt, out);
  return out;
}

function addOwnHeaders(
  { dependencies, call, selection, tally, entry }: BegunAttempt,
  out: Record<string, string>,
): void {
  const { dialect } = call.protocol;
  const now = dependencies.clock.now();
  out["x-request-id"] = call.requestId;
  if (dialect.errorShape === "anthropic") out["request-id"] ??= call.requestId;
  out["x-sluice-provider"] = selection.deployment.provider.id;
  out["x-sluice-deployment"] = selection.deployment.id;
  out["x-sluice-attempts"] = String(tally.tried);
  if (entry.costNanoUsd !== null) out["x-sluice-cost-usd"] = nanoToUsdText(entry.costNanoUsd);
  out["x-sluice-overhead-ms"] = inThousandths(entry.overheadMs);
  addRateHeaders(dialect, tally.permit.rateHeaders(), now, out);
  if (isAgent(call)) Object.assign(out, capHeaders(tally.permit.tightestBudget(now)));
}

/** Milliseconds with three digits behind the point. */
function inThousandths(ms: number): string {
  const thousandths = Math.round(ms * 1_000);
  const rest = thousandths % 1_000;
  return `${(thousandths - rest) / 1_000}.${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}`;
}

/** A proxy that gathers answers, as nginx does by itself, is told not to gather a stream's events. */
export function passAtOnce(headers: Record<string, string>): void {
  headers["x-accel-buffering"] = "no";
}

/** Headers of a refusal by the limits themselves: how the caller stands against its tightest ones. */
export function limitHeaders(dialect: Dialect, standings: readonly LimitUsage[], now: number): Record<string, string> {
  const out: Record<string, string> = {};
  const rates: { requests: LimitHeader | null; tokens: LimitHeader | null } = { requests: null, tokens: null };
  for (const { name, limit, used, resetsAt } of standings) {
    if ((name !== "rpm" && name !== "tpm") || used === null) continue;
    const unit = name === "rpm" ? "requests" : "tokens";
    const remaining = Math.max(0, limit - used);
    if (remaining > (rates[unit]?.remaining ?? Number.POSITIVE_INFINITY)) continue;
    rates[unit] = { limit, remaining, resetMs: resetsAt === null ? 0 : Math.max(0, resetsAt * 1_000 - now) };
  }
  addRateHeaders(dialect, rates, now, out);
  return out;
}

/** Headers of a refusal after admission. */
export function refusalHeaders(dialect: Dialect, tally: CallTally, now: number): Record<string, string> {
  const out: Record<string, string> = { "x-sluice-attempts": String(tally.tried) };
  addRateHeaders(dialect, tally.permit.rateHeaders(), now, out);
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

/** The caller's tightest limits in the header names of its dialect. */
function addRateHeaders(
  dialect: Dialect,
  { requests, tokens }: RateHeaders,
  now: number,
  out: Record<string, string>,
): void {
  if (requests !== null) dialect.addLimitHeaders(out, "requests", requests, now);
  if (tokens !== null) dialect.addLimitHeaders(out, "tokens", tokens, now);
}
