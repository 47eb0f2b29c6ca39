import type {
  BudgetIncrease,
  BudgetPeriod,
  Failure,
  LimitScope,
  NanoUsd,
  PolicyCall,
  ReachedLimit,
  ScopeKind,
} from "#core/index.ts";
import type { Claim, ClaimState } from "#ports/index.ts";

/** Money to hold for a call: the most that it can cost, and the least that it needs to begin. They differ if it can be ended early. */
export interface Money {
  readonly most: NanoUsd;
  readonly least: NanoUsd;
}

export interface Estimate {
  /** Input and output together. */
  readonly tokens: number;
  /** The call costs nothing: it passes even a budget that is used up. */
  readonly isFree?: boolean;
  /** For budget policies. Absent: policies by tags do not apply. */
  readonly call?: PolicyCall;
  /** Called only if the caller has a budget. */
  money(): Money;
}

export const noMoney: Money = Object.freeze({ most: 0, least: 0 });

/** A call that counts as a request only. */
export const nothingWanted: Estimate = Object.freeze({ tokens: 0, money: () => noMoney });

export const freeRequest: Estimate = Object.freeze({ ...nothingWanted, isFree: true });

export type RateName = "rpm" | "tpm" | "concurrency";

/** One limit on one scope. `nowMs` is Unix milliseconds. */
export interface LimitRule {
  readonly name: LimitUsage["name"];
  readonly scope: LimitScope;
  /** Records what it would refuse, and refuses nothing. */
  readonly isShadow: boolean;
  /** In a sentence: `limit of 60 requests per minute on key acme/ci`. */
  readonly text: string;
  /** For a failure that it causes. */
  readonly reached: ReachedLimit;
  /** The same object for equal claims. `model`: of the call, if the rule may depend on it. */
  claim(tokens: number, money: Money, nowMs: number, model?: string): Claim;
  /** How much a finished call took that used this number of tokens. */
  actual(tokens: number): number;
  refusal(state: ClaimState, money: Money, nowMs: number): Failure;
  limitUsage(state: ClaimState, nowMs: number): LimitUsage;
}

/** `tokens` null: nothing was sent. */
export function actualUse(rules: readonly LimitRule[], tokens: number | null): readonly number[] {
  const actual: number[] = [];
  for (const rule of rules) actual.push(tokens === null ? 0 : rule.actual(tokens));
  return actual;
}

/** How far one limit is used up. Budgets are in USD, the others are counts. */
export interface LimitUsage {
  readonly name: RateName | "budget";
  readonly scope: ScopeKind;
  readonly scopeId: string;
  readonly label: string;
  /** null: not a budget. */
  readonly period: BudgetPeriod | null;
  /** Budgets with a time zone only. */
  readonly timeZone?: string | null;
  /** Budgets only. */
  readonly isRolling?: boolean;
  /** Budgets only; null: none now. `limit` includes it. */
  readonly increase?: BudgetIncrease | null;
  readonly isShadow: boolean;
  readonly limit: number;
  /** null: the spending of a budget cannot be read now. */
  readonly used: number | null;
  /** Budgets only: the part of `used` that is held for calls in flight, not spent. */
  readonly held?: number;
  /** Unix seconds at which some of it, or the whole calendar budget, is free again; null: never, or unpredictable. */
  readonly resetsAt: number | null;
}

/** Whether a limit refuses calls now: it is used up, or the rest of the budget is too small for them. A shadow limit never does. */
export function isExhausted({ used, held, limit, refusedAt, isShadow }: ScopeLimitUsage): boolean {
  if (isShadow) return false;
  return limit === 0 || (used !== null && used - (held ?? 0) >= limit) || refusedAt !== null;
}

export interface ScopeLimitUsage extends LimitUsage {
  /**
   * When a budget last refused a call in this process, in Unix milliseconds; in shadow mode, when it would have. null for other
   * limits, if that was long ago, and if such a call would pass now.
   */
  readonly refusedAt: number | null;
}

export function scopeOf({ kind, id, label }: LimitScope): Pick<LimitUsage, "scope" | "scopeId" | "label"> {
  return { scope: kind, scopeId: id, label };
}

export function reachedLimit({ kind, id }: LimitScope, name: LimitUsage["name"]): ReachedLimit {
  return { scope: kind, scopeId: id, kind: name };
}

/**
 * The key of a counter, shared by admission and the seeding after a restart. It contains ids only, so renaming a key or a workspace
 * does not empty its limits. It contains a budget's window, because another window counts anew.
 */
export function claimKey(name: RateName | `budget:${string}`, kind: ScopeKind, id: string): string {
  return `${name}:${kind}:${id}`;
}
