import type { BudgetConfig } from "@sluice/contract/config-file";
import { type NanoUsd, nanoToUsd, usdToNano } from "./money.ts";
import { withoutUndefined } from "./without-undefined.ts";

/** Objects that have limits and a budget. */
export type LimitedObject = "workspace" | "group" | "person" | "key";
export type ScopeKind = LimitedObject | "policy";
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

/** More money for a time. */
export interface BudgetIncrease {
  readonly nanoUsd: NanoUsd;
  /** Unix milliseconds. */
  readonly until: number;
  readonly reason: string;
}

export interface Budget extends BudgetWindow {
  readonly nanoUsd: NanoUsd;
  /** The model that serves calls which do not fit. It is never refused by this budget. Absent: they are refused. */
  readonly fallback?: string;
  readonly increase?: BudgetIncrease;
  readonly fail?: FailMode;
  readonly enforce?: boolean;
}

/** Calls that a policy counts: all members that are set must fit. Workspaces, groups, keys and people are ids. */
export interface PolicyMatch {
  readonly workspaces?: readonly string[];
  readonly groups?: readonly string[];
  readonly keys?: readonly string[];
  readonly people?: readonly string[];
  /** Names, or patterns with *. */
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
  /** By name, the values that fit. */
  readonly tags?: Readonly<Record<string, readonly string[]>>;
}

/** The member of a call or an attempt, or `tag:` and a name. Each of its values has its own counter. */
export type PolicySplit = "key" | "person" | "workspace" | "group" | "model" | "provider" | `tag:${string}`;

export interface BudgetPolicy {
  readonly id: string;
  readonly name: string;
  /** null: the installation. */
  readonly workspaceId: string | null;
  readonly budget: Budget;
  readonly match: PolicyMatch;
  /** null: one amount for all calls. */
  readonly splitBy: PolicySplit | null;
}

/** One counter of a policy. `value` null: the policy is not split; `-`: calls without a value. */
export interface PolicyCounter {
  readonly policy: BudgetPolicy;
  readonly value: string | null;
}

/** A budget of the config file or the API, with members in a fixed order, so that equal budgets are equal text. */
export function budgetOfConfig({ usd, time_zone: timeZone, over, increase: more, ...config }: BudgetConfig): Budget {
  const { period, fail, enforce } = config;
  const rolling = config.rolling === true ? true : undefined;
  const fallback = typeof over === "object" ? over.fallback : undefined;
  const increase = more && { nanoUsd: usdToNano(more.usd), until: Date.parse(more.until), reason: more.reason };
  return withoutUndefined({ nanoUsd: usdToNano(usd), period, timeZone, rolling, fail, enforce, fallback, increase });
}

export function configOfBudget({ nanoUsd, timeZone, fallback, increase: more, ...others }: Budget): BudgetConfig {
  const increase = more && {
    usd: nanoToUsd(more.nanoUsd),
    until: new Date(more.until).toISOString(),
    reason: more.reason,
  };
  const over = fallback === undefined ? undefined : { fallback };
  return { usd: nanoToUsd(nanoUsd), ...withoutUndefined({ time_zone: timeZone, over, increase }), ...others };
}

/** The amount of a budget now, with its increase. */
export function budgetAmount({ nanoUsd, increase }: Budget, nowMs: number): NanoUsd {
  return increase !== undefined && nowMs < increase.until ? nanoUsd + increase.nanoUsd : nanoUsd;
}

/** The limits of a workspace, group, key, or person in a workspace; or one counter of a budget policy. */
export interface LimitScope {
  readonly kind: ScopeKind;
  /** Unique among all scopes. For a person: `personScopeId`. */
  readonly id: string;
  /** Name in messages to the caller: `workspace acme`, `key ci`. */
  readonly label: string;
  readonly limits: RateLimits;
  readonly budget: Budget | null;
  /** Only of a policy. */
  readonly counter?: PolicyCounter;
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
