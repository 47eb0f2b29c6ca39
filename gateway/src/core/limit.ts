import type { NanoUsd } from "./money.ts";

export type ScopeKind = "workspace" | "group" | "key";
export type BudgetPeriod = "day" | "week" | "month" | "total";
/** What a limit does while the shared store that counts it is down. */
export type FailMode = "open" | "closed";

export interface RateLimits {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
  readonly fail?: FailMode;
}

export interface Budget {
  readonly nanoUsd: NanoUsd;
  readonly period: BudgetPeriod;
  readonly fail?: FailMode;
}

/** The limits that stand on one workspace, group or key. */
export interface LimitScope {
  readonly kind: ScopeKind;
  readonly id: string;
  /** What the caller is told: `workspace acme`, `key ci`. */
  readonly label: string;
  readonly limits: RateLimits;
  readonly budget: Budget | null;
}
