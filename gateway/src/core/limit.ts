import type { BudgetConfig } from "@sluice/contract/config-file";
import { type NanoUsd, nanoToUsd, usdToNano } from "./money.ts";
import { withoutUndefined } from "./without-undefined.ts";

export type ScopeKind = "workspace" | "group" | "person" | "key";
export type BudgetPeriod = "hour" | "day" | "week" | "month" | "total";
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

/** The time of which a budget counts the spending. */
export interface BudgetWindow {
  readonly period: BudgetPeriod;
  /** IANA name of the time zone that calendar periods follow. Absent: UTC. */
  readonly timeZone?: string;
  /** Instead of a calendar period, the last 60 minutes, 24 hours, 7 days or 30 days at any moment. */
  readonly rolling?: boolean;
}

export interface Budget extends BudgetWindow {
  readonly nanoUsd: NanoUsd;
  readonly fail?: FailMode;
  readonly enforce?: boolean;
}

/** A budget of the config file or the API, with members in a fixed order, so that equal budgets are equal text. */
export function budgetOfConfig({ usd, time_zone: timeZone, ...config }: BudgetConfig): Budget {
  const { period, fail, enforce } = config;
  const rolling = config.rolling === true ? true : undefined;
  return withoutUndefined({ nanoUsd: usdToNano(usd), period, timeZone, rolling, fail, enforce });
}

export function configOfBudget({ nanoUsd, timeZone, ...others }: Budget): BudgetConfig {
  return { usd: nanoToUsd(nanoUsd), ...withoutUndefined({ time_zone: timeZone }), ...others };
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
