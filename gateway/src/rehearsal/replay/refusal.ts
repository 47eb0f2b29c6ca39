import type { rehearsedLimits } from "@sluice/contract/console";
import { type LimitScope, type Principal, policyIdOf, type ReachedLimit } from "#core/index.ts";
import { callersScope } from "#limits/index.ts";

export type RehearsedLimit = (typeof rehearsedLimits)[number];

/** The limit, grant, route or guardrail that refuses a past call. */
export class Refusal {
  readonly scope: LimitScope["kind"] | "model" | "guardrail";
  readonly scopeId: string;
  readonly label: string;
  readonly limit: RehearsedLimit;
  readonly name: string;
  /** The name of the rule that a change may contain: a policy has a counter for each value that it is split by. */
  readonly rule: string;

  constructor({ scope, scopeId, limit }: Refused, label: string) {
    this.scope = scope;
    this.scopeId = scopeId;
    this.label = label;
    this.limit = limit;
    this.name = ruleName({ scope, scopeId, limit });
    this.rule = scope === "policy" ? ruleName({ scope, scopeId: policyIdOf(scopeId), limit }) : this.name;
  }
}

type Refused = Pick<Refusal, "scope" | "scopeId" | "limit">;

/** Of the limit that admission names. */
export function refusalOf(
  { scope, scopeId, kind }: ReachedLimit,
  principal: Pick<Principal, "scopes" | "policies" | "key" | "group" | "workspace">,
): Refusal {
  const named = scope === "policy" ? policyLabel(scopeId, principal) : undefined;
  const label = named ?? principal.scopes.find(({ id }) => id === scopeId)?.label ?? `${scope} ${scopeId}`;
  return new Refusal({ scope, scopeId, limit: kind }, label);
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

export function ruleName({ scope, scopeId, limit }: Refused): string {
  return `${limit} ${scope} ${scopeId}`;
}
