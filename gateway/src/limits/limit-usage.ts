import type { BudgetPeriod, ScopeKind } from "#core/index.ts";
import type { LimitName } from "./limit-name.ts";

/** How far one limit is used up. Budgets are in USD, the others are counts. */
export interface LimitUsage {
  readonly name: LimitName;
  readonly scope: ScopeKind;
  readonly scopeId: string;
  readonly label: string;
  /** null for what is not a budget. */
  readonly period: BudgetPeriod | null;
  readonly limit: number;
  /** null: what a budget has spent cannot be read now. */
  readonly used: number | null;
  /** Of a budget: the part of `used` that is held for calls in flight, not spent. */
  readonly held?: number;
  /** Unix seconds at which some of it (a budget: all of it) is free again; null when that is not known or never. */
  readonly resetsAt: number | null;
}

/** The same of a scope, for those who look after it. */
export interface ScopeLimitUsage extends LimitUsage {
  /**
   * When a budget last refused a call, in Unix milliseconds, as far as this process knows; null for other limits, where that
   * is long ago, and where such a call would be let through by now.
   */
  readonly refusedAt: number | null;
}
