import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { ConsoleKey } from "@sluice/contract/console";
import ipaddr from "ipaddr.js";
import { matches } from "./model-grant.ts";

/** The fields that limit a key. */
export const keyBounds = [
  "enabled",
  "group",
  "models",
  "allowed_ips",
  "expires_at",
  "limits",
  "budget",
  "tags",
  "capture",
] as const;
export type KeyBound = (typeof keyBounds)[number];

export type BoundedKey = Pick<ConsoleKey, KeyBound | "enforce_models" | "enforce_allowed_ips">;

/** The fields that put a bound into shadow mode. A change of such a field is a change of its bound. */
export const enforcedBy: Readonly<Partial<Record<KeyBound, "enforce_models" | "enforce_allowed_ips">>> = {
  models: "enforce_models",
  allowed_ips: "enforce_allowed_ips",
};

/**
 * The fields that a change widens. If it cannot be decided, the field counts as wider: a budget with another period, or a pattern that
 * only several others cover together.
 */
export function widenedBounds(before: BoundedKey, after: BoundedKey): readonly KeyBound[] {
  return keyBounds.filter((name) => !fits(name, before, after));
}

/** Whether a field limits the key. */
export function bindsKey<Name extends KeyBound>(name: Name, key: { readonly [Each in Name]: unknown }): boolean {
  const { [name]: value } = key;
  if (name === "enabled") return value === false;
  if (name === "limits" || name === "tags") return Object.values(value ?? {}).some((each) => each !== undefined);
  return name === "group" || name === "capture" || value !== null;
}

function fits(name: KeyBound, before: BoundedKey, after: BoundedKey): boolean {
  const rule = rules[name] as (before: unknown, after: unknown) => boolean;
  if (!rule(before[name], after[name])) return false;
  const switchName = enforcedBy[name];
  return switchName === undefined || after[switchName] || !before[switchName] || before[name] === null;
}

type Rules = { readonly [Name in KeyBound]: (before: BoundedKey[Name], after: BoundedKey[Name]) => boolean };

const rules: Rules = {
  enabled: (before, after) => before || !after,
  group: (before, after) => before.id === after.id,
  models: (before, after) => before === null || (after?.every((pattern) => matches(before, pattern)) ?? false),
  allowed_ips: (before, after) =>
    before === null || (after?.every((range) => before.some((wide) => isWithin(range, wide))) ?? false),
  expires_at: (before, after) => atMost(after, before),
  limits: limitsFit,
  budget: budgetFits,
  // A key may get more tags, but not lose one that reports rely on.
  tags: (before, after) => Object.entries(before).every(([tag, value]) => after[tag] === value),
  capture: (before, after) => before === after,
};

function limitsFit(before: LimitsConfig, after: LimitsConfig): boolean {
  const names = ["rpm", "tpm", "concurrency"] as const;
  if (!names.every((name) => atMost(after[name], before[name]))) return false;
  return (failFits(before, after) && enforceFits(before, after)) || names.every((name) => before[name] === undefined);
}

function budgetFits(before: BudgetConfig | null, after: BudgetConfig | null): boolean {
  if (before === null) return true;
  return (
    after !== null &&
    after.period === before.period &&
    (after.time_zone ?? "UTC") === (before.time_zone ?? "UTC") &&
    (after.rolling ?? false) === (before.rolling ?? false) &&
    after.usd <= before.usd &&
    overFits(before.over, after.over) &&
    increaseFits(before.increase, after.increase) &&
    failFits(before, after) &&
    enforceFits(before, after)
  );
}

/** A fallback lets calls through that were refused. */
function overFits(before: BudgetConfig["over"], after: BudgetConfig["over"]): boolean {
  if (typeof after !== "object") return true;
  return typeof before === "object" && before.fallback === after.fallback;
}

function increaseFits(before: BudgetConfig["increase"], after: BudgetConfig["increase"]): boolean {
  if (after === undefined) return true;
  return before !== undefined && after.usd <= before.usd && Date.parse(after.until) <= Date.parse(before.until);
}

/** Left out means the installation's default, which may be either. */
function failFits(before: Pick<LimitsConfig, "fail">, after: Pick<LimitsConfig, "fail">): boolean {
  return after.fail === before.fail || after.fail === "closed";
}

/** A shadow limit refuses nothing. */
function enforceFits(before: Pick<LimitsConfig, "enforce">, after: Pick<LimitsConfig, "enforce">): boolean {
  return after.enforce !== false || before.enforce === false;
}

/** `null` and `undefined` are unlimited. */
function atMost(after: number | null | undefined, before: number | null | undefined): boolean {
  return before == null || (after != null && after <= before);
}

/** Whether a range is completely inside another one. */
function isWithin(range: string, wide: string): boolean {
  const inner = rangeOf(range);
  const outer = rangeOf(wide);
  if (inner === null || outer === null) return range === wide;
  const [address, bits] = inner;
  return address.kind() === outer[0].kind() && bits >= outer[1] && address.match(outer as [ipaddr.IPv4, number]);
}

export type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** An address, or a range in CIDR notation; null: neither. */
export function rangeOf(text: string): AddressRange | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
