import type { BudgetConfig } from "@sluice/contract";
import { type LimitScope, type ScopeKind, usdToNano } from "#core/index.ts";
import type { Admission, ScopeLimitUsage } from "#limits/index.ts";

/** Whether a limit lets nothing through now: it is used up, or what is not spent of a budget is too little for the calls that come. */
export function isExhausted({ used, held, limit, refusedAt }: ScopeLimitUsage): boolean {
  return limit === 0 || (used !== null && used - (held ?? 0) >= limit) || refusedAt !== null;
}

/** How far the budget of each of some scopes is used. */
export interface BudgetStates {
  /** USD of the running period; null: it has no budget, or what it has spent cannot be read now. */
  used(id: string): number | null;
  /** The first of some scopes whose budget lets nothing through, the narrowest first; null: there is none. */
  exhausted(ids: Readonly<Partial<Record<ScopeKind, string>>>): ScopeKind | null;
}

const narrowestFirst: readonly ScopeKind[] = ["key", "person", "group", "workspace"];

export async function budgetStates(
  admission: Pick<Admission, "limitUsages">,
  scopes: Iterable<LimitScope>,
): Promise<BudgetStates> {
  const withBudget = new Map<string, LimitScope>();
  for (const scope of scopes) if (scope.budget !== null) withBudget.set(scope.id, { ...scope, limits: {} });
  const usages = withBudget.size === 0 ? [] : await admission.limitUsages([...withBudget.values()]);
  const byId = new Map(usages.map((usage) => [usage.scopeId, usage]));
  return {
    used: (id) => byId.get(id)?.used ?? null,
    exhausted: (ids) =>
      narrowestFirst.find((kind) => {
        const usage = byId.get(ids[kind] ?? "");
        return usage !== undefined && isExhausted(usage);
      }) ?? null,
  };
}

/** The scope of what is stored, as far as its budget goes. */
export function budgetScope(kind: ScopeKind, id: string, label: string, budget: BudgetConfig | null): LimitScope {
  const { usd, period, fail } = budget ?? {};
  return {
    kind,
    id,
    label,
    limits: {},
    budget:
      usd === undefined || period === undefined
        ? null
        : { nanoUsd: usdToNano(usd), period, ...(fail === undefined ? {} : { fail }) },
  };
}
