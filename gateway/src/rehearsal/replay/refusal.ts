import type { rehearsedLimits } from "@sluice/contract/console";
import { asFailure, type LimitScope, type Principal } from "#core/index.ts";

export type RehearsedLimit = (typeof rehearsedLimits)[number];

/** What refuses a call of the past. */
export interface Refusal {
  readonly scope: LimitScope["kind"] | "model";
  readonly scopeId: string;
  readonly label: string;
  readonly limit: RehearsedLimit;
}

/** The limit that admission names in its failure. Throws everything else. */
export function refusalOf(thrown: unknown, { scopes, policies = [] }: Pick<Principal, "scopes" | "policies">): Refusal {
  const { reachedLimit: reached } = asFailure(thrown);
  if (reached === undefined) throw thrown;
  const { scope, scopeId, kind } = reached;
  const policy = scope === "policy" ? policies.find(({ id }) => scopeId.startsWith(`${id}~`)) : undefined;
  const named = policy === undefined ? undefined : `budget ${policy.name}`;
  const label = named ?? scopes.find(({ id }) => id === scopeId)?.label ?? `${scope} ${scopeId}`;
  return { scope, scopeId, label, limit: kind };
}

export function ruleName({ scope, scopeId, limit }: Pick<Refusal, "scope" | "scopeId" | "limit">): string {
  return `${limit} ${scope} ${scopeId}`;
}
