import type { BudgetPeriod, Failure, LimitScope, NanoUsd, ScopeKind } from "#core/index.ts";
import type { Claim, ClaimState } from "#ports/index.ts";

/** Money to hold for a call: all that it can cost, and the least that it needs to begin. They differ where it can be ended early. */
export interface Money {
  readonly most: NanoUsd;
  readonly least: NanoUsd;
}

export interface Estimate {
  /** Input and output together. */
  readonly tokens: number;
  /** It costs nothing: no budget is asked, not even one that is used up. */
  readonly isFree?: boolean;
  /** Asked only when a budget stands on its caller. */
  money(): Money;
}

export const noMoney: Money = Object.freeze({ most: 0, least: 0 });

/** Of a call that counts as a request only. */
export const nothingWanted: Estimate = Object.freeze({ tokens: 0, money: () => noMoney });

export const freeRequest: Estimate = Object.freeze({ ...nothingWanted, isFree: true });

/** An estimate with its money worked out. */
export interface Wanted extends Money {
  readonly tokens: number;
}

export type RateName = "rpm" | "tpm" | "concurrency";

/** One limit on one scope. `nowMs` is Unix milliseconds. */
export interface LimitRule {
  readonly name: LimitUsage["name"];
  claim(wanted: Wanted, nowMs: number): Claim;
  /** What a finished call with so many tokens took of it. */
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

export interface ScopeLimitUsage extends LimitUsage {
  /**
   * When a budget last refused a call in this process, in Unix milliseconds; null for other limits, where that is long ago, and
   * where such a call would pass now.
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
