import type { rehearsedLimits } from "@sluice/contract/console";
import { asFailure, type LimitScope, type Principal, policyIdOf } from "#core/index.ts";
import { callersScope } from "#limits/index.ts";

export type RehearsedLimit = (typeof rehearsedLimits)[number];

/** The limit, grant, route or guardrail that refuses a past call. */
export interface Refusal {
  readonly scope: LimitScope["kind"] | "model" | "guardrail";
  readonly scopeId: string;
  readonly label: string;
  readonly limit: RehearsedLimit;
}

/** The limit that admission names in its failure. Throws everything else. */
export function refusalOf(
  thrown: unknown,
  principal: Pick<Principal, "scopes" | "policies" | "key" | "group" | "workspace">,
): Refusal {
  const { reachedLimit: reached } = asFailure(thrown);
  if (reached === undefined) throw thrown;
  const { scope, scopeId, kind } = reached;
  const named = scope === "policy" ? policyLabel(scopeId, principal) : undefined;
  const label = named ?? principal.scopes.find(({ id }) => id === scopeId)?.label ?? `${scope} ${scopeId}`;
  return { scope, scopeId, label, limit: kind };
}

/** `policy per-team (tag:team search)` */
function policyLabel(
  scopeId: string,
  principal: Pick<Principal, "policies" | "key" | "group" | "workspace">,
): string | undefined {
  const policy = principal.policies?.find(({ id }) => id === policyIdOf(scopeId));
  if (policy === undefined) return undefined;
  const text = scopeId.slice(scopeId.indexOf("/", scopeId.indexOf("~")) + 1);
  const value = policy.splitBy === null ? null : decodeURIComponent(text);
  return callersScope({ policy, value }, principal).label;
}

export function ruleName({ scope, scopeId, limit }: Pick<Refusal, "scope" | "scopeId" | "limit">): string {
  return `${limit} ${scope} ${scopeId}`;
}

/** The name of the rule that a change may contain: a policy has a counter for each value that it is split by. */
export function ruleOf({ scope, scopeId, limit }: Refusal): string {
  return ruleName({ scope, scopeId: scope === "policy" ? policyIdOf(scopeId) : scopeId, limit });
}
