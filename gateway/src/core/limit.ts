import type { NanoUsd } from "./money.ts";

export type ScopeKind = "workspace" | "group" | "person" | "key";
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

/** The limits that stand on one workspace, group, person in a workspace, or key. */
export interface LimitScope {
  readonly kind: ScopeKind;
  /** Unique among all scopes. Of a person: `personScopeId`. */
  readonly id: string;
  /** What the caller is told: `workspace acme`, `key ci`. */
  readonly label: string;
  readonly limits: RateLimits;
  readonly budget: Budget | null;
}

/** Somebody in one workspace: what they spend elsewhere is not of it. */
export function personScopeId(workspaceId: string, personId: string): string {
  return `${workspaceId}/${personId}`;
}

/** Whom such a scope is of: workspace and person. */
export function personOfScope(scopeId: string): readonly [workspaceId: string, personId: string] {
  const slash = scopeId.indexOf("/");
  return [scopeId.slice(0, slash), scopeId.slice(slash + 1)];
}

/** One limit of the caller, as headers of an answer show it. */
export interface LimitHeader {
  readonly limit: number;
  readonly used: number;
  /** Milliseconds until some of it is free again. */
  readonly freeInMs: number;
}
