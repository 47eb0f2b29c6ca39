import { type HeaderReader, nanoToUsdText, type Provider } from "#core/index.ts";
import type { RateHeaders } from "#limits/index.ts";
import type { Dialect } from "#protocols/index.ts";
import { accountRedactor } from "#providers/index.ts";
import { capHeaders, isAgent } from "../agent-caps.ts";
import type { CallTally } from "./call-tally.ts";
import type { BegunAttempt } from "./run-attempt.ts";

/** Headers of an answer: those of the upstream's that clients read, who served, and the caller's limits. */
export function answerHeaders(attempt: BegunAttempt, upstream: HeaderReader): Record<string, string> {
  const out = passedHeaders(attempt.selection.deployment.provider, upstream, attempt.call.facts.stream);
  addOwnHeaders(attempt, out);
  return out;
}

export function passedHeaders(provider: Provider, upstream: HeaderReader, isStream: boolean): Record<string, string> {
  const out: Record<string, string> = {};
  const redactor = accountRedactor(provider);
  upstream.forEach((value, name) => {
    const shownAs = passedName(name, isStream);
    if (shownAs !== null) out[shownAs] = usualTypes.has(value) ? value : redactor.header(value);
  });
  return out;
}

function passedName(name: string, isStream: boolean): string | null {
  if (passed.has(name) || name.startsWith("x-codex-")) return name;
  // Caches must neither keep a stream nor gather it. A whole answer is not cached anyway.
  if (name === "cache-control") return isStream ? name : null;
  // For talking to the vendor's support.
  return name === "x-request-id" ? "x-sluice-upstream-request-id" : null;
}

/** They hide no secret. */
const usualTypes: ReadonlySet<string> = new Set([
  ...["application/json", "application/json; charset=utf-8"],
  ...["text/event-stream", "text/event-stream; charset=utf-8"],
]);

const passed: ReadonlySet<string> = new Set([
  "content-type",
  "openai-model",
  "openai-version",
  "openai-processing-ms",
  "x-reasoning-included",
  "x-models-etag",
  "request-id",
]);

/** Headers of a translated answer: none of the other vendor's. */
export function translatedHeaders(attempt: BegunAttempt, contentType: string): Record<string, string> {
  const out: Record<string, string> = { "content-type": contentType };
  addOwnHeaders(attempt, out);
  return out;
}

function addOwnHeaders(attempt: BegunAttempt, out: Record<string, string>): void {
  const { dependencies, call, selection, tally, entry, warnings } = attempt;
  const { dialect } = call.protocol;
  const now = dependencies.clock.now();
  const warned = warnings.header();
  if (warned !== null) out["x-sluice-warnings"] = warned;
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

/** Milliseconds with three digits after the point. */
function inThousandths(ms: number): string {
  const thousandths = Math.round(ms * 1_000);
  const rest = thousandths % 1_000;
  return `${(thousandths - rest) / 1_000}.${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}`;
}

/** Proxies such as nginx must not gather a stream's events. */
export function passAtOnce(headers: Record<string, string>): void {
  headers["x-accel-buffering"] = "no";
}

/** Headers of a refusal after admission. */
export function refusalHeaders(dialect: Dialect, tally: CallTally, now: number): Record<string, string> {
  const out: Record<string, string> = { "x-sluice-attempts": String(tally.tried) };
  addRateHeaders(dialect, tally.permit.rateHeaders(), now, out);
  return out;
}

/** The caller's tightest limits in the header names of its dialect. */
export function addRateHeaders(
  dialect: Dialect,
  { requests, tokens }: RateHeaders,
  now: number,
  out: Record<string, string>,
): void {
  if (requests !== null) dialect.addLimitHeaders(out, "requests", requests, now);
  if (tokens !== null) dialect.addLimitHeaders(out, "tokens", tokens, now);
}
