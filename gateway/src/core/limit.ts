import type { NanoUsd } from "./money.ts";

export type ScopeKind = "workspace" | "group" | "person" | "key";
export type BudgetPeriod = "day" | "week" | "month" | "total";
/** Behavior of a limit while the shared counter is down. */
export type FailMode = "open" | "closed";

export interface RateLimits {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
  readonly fail?: FailMode;
  /** false: shadow mode, which records refusals and refuses nothing. */
  readonly enforce?: boolean;
}

export interface Budget {
  readonly nanoUsd: NanoUsd;
  readonly period: BudgetPeriod;
  readonly fail?: FailMode;
  readonly enforce?: boolean;
}

/** The limits of a workspace, group, key, or person in a workspace. */
export interface LimitScope {
  readonly kind: ScopeKind;
  /** Unique among all scopes. For a person: `personScopeId`. */
  readonly id: string;
  /** Name in messages to the caller: `workspace acme`, `key ci`. */
  readonly label: string;
  readonly limits: RateLimits;
  readonly budget: Budget | null;
}

/** A person's spending counts per workspace. */
export function personScopeId(workspaceId: string, personId: string): string {
  return `${workspaceId}/${personId}`;
}

/** The workspace and person of such a scope. */
export function personOfScope(scopeId: string): readonly [workspaceId: string, personId: string] {
  const slash = scopeId.indexOf("/");
  return [scopeId.slice(0, slash), scopeId.slice(slash + 1)];
}

/** A limit as shown in the headers of an answer. */
export interface LimitHeader {
  readonly limit: number;
  readonly used: number;
  /** Milliseconds until some of it is free again. */
  readonly freeInMs: number;
}
