import { type Failure, type HeaderReader, nanoToUsdText, type Provider } from "#core/index.ts";
import type { RateStates, SpentBudget } from "#limits/index.ts";
import type { Dialect } from "#protocols/index.ts";
import { accountRedactor } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { CallTally } from "./call-tally.ts";
import type { RunningAttempt } from "./run-attempt.ts";

/** Headers of an answer: upstream headers that clients read, the deployment, and the caller's limits. */
export function answerHeaders(attempt: RunningAttempt, upstream: HeaderReader): Record<string, string> {
  const out = passedHeaders(attempt.selection.deployment.provider, upstream, attempt.call.facts.stream);
  addOwnHeaders(attempt, out);
  return out;
}

export function passedHeaders(provider: Provider, upstream: HeaderReader, isStream: boolean): Record<string, string> {
  const out: Record<string, string> = {};
  const redactor = accountRedactor(provider);
  upstream.forEach((value, name) => {
    const shownAs = shownName(name, isStream);
    if (shownAs !== null) out[shownAs] = usualTypes.has(value) ? value : redactor.header(value);
  });
  return out;
}

function shownName(name: string, isStream: boolean): string | null {
  if (passedOn.has(name) || name.startsWith("x-codex-")) return name;
  // Caches must neither store nor buffer a stream. A whole answer is not cached anyway.
  if (name === "cache-control") return isStream ? name : null;
  // For talking to the vendor's support.
  return name === "x-request-id" ? "x-sluice-upstream-request-id" : null;
}

/** Cannot contain secrets. */
const usualTypes: ReadonlySet<string> = new Set([
  ...["application/json", "application/json; charset=utf-8"],
  ...["text/event-stream", "text/event-stream; charset=utf-8"],
]);

const passedOn: ReadonlySet<string> = new Set([
  "content-type",
  "openai-model",
  "openai-version",
  "openai-processing-ms",
  "x-reasoning-included",
  "x-models-etag",
  "request-id",
]);

/** Headers of a translated answer, without the upstream's. */
export function translatedHeaders(attempt: RunningAttempt, contentType: string): Record<string, string> {
  const out: Record<string, string> = { "content-type": contentType };
  addOwnHeaders(attempt, out);
  return out;
}

function addOwnHeaders(attempt: RunningAttempt, out: Record<string, string>): void {
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
  out["x-sluice-overhead-ms"] = inThousandths(entry.overheadMs ?? 0);
  addRateHeaders(dialect, tally.permit, now, out);
  if (isAgent(call)) Object.assign(out, capHeaders(tally.permit.tightestBudget(now)));
}

/** Milliseconds with three digits after the point. */
function inThousandths(ms: number): string {
  const thousandths = Math.round(ms * 1_000);
  const rest = thousandths % 1_000;
  return `${(thousandths - rest) / 1_000}.${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}`;
}

/** Proxies such as nginx must not buffer a stream's events. */
export function passAtOnce(headers: Record<string, string>): void {
  headers["x-accel-buffering"] = "no";
}

/** Headers of a refusal after admission. */
export function refusalHeaders(dialect: Dialect, tally: CallTally, now: number): Record<string, string> {
  const out: Record<string, string> = { "x-sluice-attempts": String(tally.tried) };
  addRateHeaders(dialect, tally.permit, now, out);
  return out;
}

/** The caller's tightest limits in the header names of its dialect. */
export function addRateHeaders(dialect: Dialect, rates: RateStates, now: number, out: Record<string, string>): void {
  const requests = rates.tightestRate("rpm");
  const tokens = rates.tightestRate("tpm");
  if (requests !== null) dialect.addLimitHeaders(out, "requests", requests, now);
  if (tokens !== null) dialect.addLimitHeaders(out, "tokens", tokens, now);
}

/** Coding agents that are signed in as a person get budgets in the headers that Claude Code reads. Programs with a key do not. */
type AgentCall = Pick<Call, "principal" | "protocol">;

/**
 * A budget's refusal in the form that agents handle best. Claude Code shows a 429 and does not retry it. Codex retries a 402 five times,
 * but shows `usage_limit_reached` at once, with the time in `resets_at`. Other failures are unchanged.
 */
export function agentsFailure(call: AgentCall, failure: Failure): Failure {
  const how = failure.upstream === undefined ? shownAs(call, failure) : null;
  if (how === null) return failure;
  return failure.with({ status: 429, ...(how === "openai" ? { type: "usage_limit_reached" } : {}) });
}

/** The shape of that refusal; null: the usual one. */
function shownAs({ principal, protocol }: AgentCall, { code }: Failure): "anthropic" | "openai" | null {
  if (code !== "budget_exceeded" || principal.key.personId === undefined) return null;
  const { errorShape } = protocol.dialect;
  return errorShape === "anthropic" || errorShape === "openai" ? errorShape : null;
}

export function refusedCapHeaders(call: AgentCall, failure: Failure, nowMs: number): Record<string, string> {
  const how = shownAs(call, failure);
  if (how === null) return {};
  const resetsAt = failure.details?.resets_at ?? null;
  const out: Record<string, string> = { "x-should-retry": "false" };
  if (resetsAt !== null) out["retry-after"] = String(Math.max(1, Math.ceil(resetsAt - nowMs / 1_000)));
  if (how === "openai") return out;
  const period = periods[failure.details?.period ?? "total"];
  return {
    ...out,
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-overage-utilization": "1",
    "anthropic-ratelimit-unified-overage-surpassed-threshold": "1",
    "anthropic-ratelimit-unified-overage-disabled-reason": "org_spend_cap_reached",
    ...(period === null ? {} : { "anthropic-ratelimit-unified-overage-period": period }),
    ...resetHeaders(resetsAt),
  };
}

/** The share of the agent's tightest budget that is spent. */
function capHeaders(budget: SpentBudget | null): Record<string, string> {
  if (budget === null) return {};
  const { share, resetsAt } = budget;
  return {
    "anthropic-ratelimit-unified-status": "allowed",
    "anthropic-ratelimit-unified-representative-claim": "overage",
    "anthropic-ratelimit-unified-overage-status": "allowed",
    "anthropic-ratelimit-unified-overage-utilization": share.toFixed(2),
    ...(share < warnedShare ? {} : { "anthropic-ratelimit-unified-overage-surpassed-threshold": String(warnedShare) }),
    ...resetHeaders(resetsAt),
  };
}

function resetHeaders(resetsAt: number | null): Record<string, string> {
  if (resetsAt === null) return {};
  const seconds = String(resetsAt);
  return { "anthropic-ratelimit-unified-reset": seconds, "anthropic-ratelimit-unified-overage-reset": seconds };
}

/** From this share on the agent warns its person. */
const warnedShare = 0.75;

function isAgent({ principal, protocol }: AgentCall): boolean {
  return principal.key.personId !== undefined && protocol.dialect.errorShape === "anthropic";
}

/** Periods that Anthropic's clients know. */
const periods = { hour: null, day: "daily", week: "weekly", month: "monthly", total: null } as const;
