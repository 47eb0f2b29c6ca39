import type { BudgetPeriod, Failure, LimitScope, ScopeKind } from "#core/index.ts";
import type { Claim, ClaimState } from "#ports/index.ts";
import type { Wanted } from "./estimate.ts";

export type RateName = "rpm" | "tpm" | "concurrency";

/** One limit on one scope: what it claims for a call, and what it says when it refuses. `nowMs` is Unix milliseconds. */
export interface LimitRule {
  readonly name: LimitUsage["name"];
  claim(wanted: Wanted, nowMs: number): Claim;
  /** What a finished call with so many tokens really took of it; a budget hears that from the ledger. */
  actual(tokens: number): number;
  refusal(state: ClaimState, wanted: Wanted, nowMs: number): Failure;
  limitUsage(state: ClaimState, nowMs: number): LimitUsage;
}

/** How far one limit is used up. Budgets are in USD, the others are counts. */
export interface LimitUsage {
  readonly name: RateName | "budget";
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

export function scopeOf({ kind, id, label }: LimitScope): Pick<LimitUsage, "scope" | "scopeId" | "label"> {
  return { scope: kind, scopeId: id, label };
}

/**
 * Names of counters. Admission and the seeding after a restart must agree on them, and they hold ids only: renaming a
 * key or a workspace does not empty its limits. A budget's period is part of its name, since another period counts anew.
 */
export function claimKey(name: RateName | `budget:${BudgetPeriod}`, kind: ScopeKind, id: string): string {
  return `${name}:${kind}:${id}`;
}
