import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import {
  type Budget,
  budgetOfConfig,
  configOfBudget,
  type LimitScope,
  personScopeId,
  type RateLimits,
  type ScopeKind,
} from "#core/index.ts";

/** Columns for the limits of a workspace, group, person or key. */
export interface ScopeColumns {
  readonly limits: string;
  readonly budget: string | null;
}

/** Fixed member order, so that equal limits are equal text. */
export function scopeColumns(limits: LimitsConfig | undefined, budget: BudgetConfig | null | undefined): ScopeColumns {
  return { limits: limitsText(limits ?? {}), budget: budget == null ? null : JSON.stringify(budgetOfConfig(budget)) };
}

export function limitScope(kind: ScopeKind, id: string, name: string, columns: ScopeColumns): LimitScope {
  const limits: RateLimits = columns.limits === "{}" ? noLimits : Object.freeze(JSON.parse(columns.limits));
  const budget: Budget | null = columns.budget === null ? null : JSON.parse(columns.budget);
  return Object.freeze({
    kind,
    id,
    label: `${kind} ${name}`,
    limits,
    budget: budget === null ? null : Object.freeze(budget),
  });
}

/** `name`: the workspace's slug and the person's address. */
export function personScope(workspaceId: string, personId: string, name: string, columns: ScopeColumns): LimitScope {
  return limitScope("person", personScopeId(workspaceId, personId), name, columns);
}

/** Absent fields stay unchanged; a null budget removes the budget. */
export function changedScope(
  before: ScopeColumns,
  change: { readonly limits?: LimitsConfig | undefined; readonly budget?: BudgetConfig | null | undefined },
): ScopeColumns {
  const columns = scopeColumns(change.limits, change.budget);
  return {
    limits: change.limits === undefined ? before.limits : columns.limits,
    budget: change.budget === undefined ? before.budget : columns.budget,
  };
}

export function limitsOf(columns: ScopeColumns): LimitsConfig {
  return JSON.parse(columns.limits);
}

export function budgetOf(columns: ScopeColumns): BudgetConfig | null {
  if (columns.budget === null) return null;
  return configOfBudget(JSON.parse(columns.budget));
}

/** JSON text of a list of names. */
export function patternsText(patterns: readonly string[] | null | undefined): string | null {
  return patterns == null ? null : JSON.stringify(patterns);
}

export function patternsOf(text: string): readonly string[] {
  return text === "[]" ? noPatterns : Object.freeze(JSON.parse(text) as readonly string[]);
}

/** Shared by most keys. A frozen array takes more memory than the rest of a scope. */
const noPatterns: readonly string[] = Object.freeze([]);
const noLimits: RateLimits = Object.freeze({});

function limitsText(limits: LimitsConfig): string {
  const { rpm, tpm, concurrency, fail, enforce } = limits;
  return JSON.stringify({ rpm, tpm, concurrency, fail, enforce });
}
