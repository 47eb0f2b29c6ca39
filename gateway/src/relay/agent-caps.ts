import type { Failure } from "#core/index.ts";
import type { SpentBudget } from "#limits/index.ts";
import type { Call } from "./call.ts";

/**
 * What a coding agent that is signed in as a person reads of a budget: the names that Claude Code shows a cap by. Programs with a key
 * are answered as they always are.
 */
type AgentCall = Pick<Call, "principal" | "protocol">;

/**
 * A budget's refusal as the agent takes it: 429, which Claude Code shows as it is, and does not repeat. Codex repeats a 402 five times, and
 * tells its person of `usage_limit_reached` at once, with the time in `resets_at`. Others stay as they are.
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

/** How far the agent's tightest budget is spent, on an answer. */
export function capHeaders(budget: SpentBudget | null): Record<string, string> {
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

export function isAgent({ principal, protocol }: AgentCall): boolean {
  return principal.key.personId !== undefined && protocol.dialect.errorShape === "anthropic";
}

const periods = { day: "daily", week: "weekly", month: "monthly", total: null } as const;
