import type { BodyOf, BudgetConfig, LimitsConfig, ListedKey } from "@sluice/contract";
import { budgetBlockedBy } from "../../limits/budget-increase.ts";

export const bulkActions = ["disable", "enable", "transfer", "group", "limits", "budget", "tag", "revoke"] as const;
export type BulkAction = (typeof bulkActions)[number];

export interface BulkInput {
  /** User id; null: no owner. */
  readonly owner: string | null;
  readonly group: string;
  readonly tagName: string;
  readonly tagValue: string;
  readonly limits: LimitsConfig;
  readonly budget: BudgetConfig | null;
}

type Changes = NonNullable<BodyOf<"keys.changeMany">["changes"]>;

/** The selected keys by what the action does to them. */
export interface BulkPlan {
  readonly changes: readonly ListedKey[];
  /** Already as requested. */
  readonly unchanged: readonly ListedKey[];
  /** The config file declares them, or they are revoked. */
  readonly fixed: readonly ListedKey[];
}

export function bulkPlan(action: BulkAction, keys: readonly ListedKey[], input: BulkInput): BulkPlan {
  const fixed = keys.filter((key) => key.managed_by === "file" || (key.state === "revoked" && action !== "revoke"));
  const rest = keys.filter((key) => !fixed.includes(key));
  const unchanged = rest.filter((key) => isDone(action, key, input));
  return { changes: rest.filter((key) => !unchanged.includes(key)), unchanged, fixed };
}

function isDone(action: BulkAction, key: ListedKey, input: BulkInput): boolean {
  if (action === "revoke") return key.revoked_at !== null;
  if (action === "disable" || action === "enable") return key.enabled === (action === "enable");
  if (action === "transfer") return (key.owner?.id ?? null) === input.owner;
  if (action === "group") return key.group.id === input.group;
  if (action === "limits") return isSameLimits(key.limits, input.limits);
  if (action === "budget") return isSameBudget(key.budget, input.budget);
  return Object.hasOwn(key.tags, input.tagName.trim()) && key.tags[input.tagName.trim()] === input.tagValue.trim();
}

const limitKinds = ["rpm", "tpm", "concurrency"] as const;

function isSameLimits(one: LimitsConfig, other: LimitsConfig): boolean {
  return limitKinds.every((kind) => one[kind] === other[kind]) && isShadow(one) === isShadow(other);
}

function isSameBudget(one: BudgetConfig | null, other: BudgetConfig | null): boolean {
  const members = ["usd", "period", "time_zone", "rolling"] as const;
  const extras = (budget: BudgetConfig | null) => JSON.stringify([budget?.over ?? null, budget?.increase ?? null]);
  const alike = members.every((member) => one?.[member] === other?.[member]) && extras(one) === extras(other);
  return alike && isShadow(one) === isShadow(other);
}

function isShadow(config: LimitsConfig | BudgetConfig | null): boolean {
  return config?.enforce === false;
}

/** The gateway keeps the mode of each key if it is left out. */
function withMode<Config extends LimitsConfig | BudgetConfig>(config: Config): Config {
  return { ...config, enforce: config.enforce !== false };
}

/** null: the input is incomplete. */
export function bulkBody(action: BulkAction, input: BulkInput): Omit<BodyOf<"keys.changeMany">, "keys"> | null {
  if (action === "revoke") return { revoke: true };
  if (action === "disable" || action === "enable") return { changes: { enabled: action === "enable" } };
  if (action === "transfer") return { changes: { owner: input.owner } };
  if (action === "group") return input.group === "" ? null : { changes: { group: input.group } };
  if (action === "limits") return { changes: { limits: withMode(input.limits) } };
  if (action === "budget" && budgetBlockedBy(input.budget) !== null) return null;
  if (action === "budget") return { changes: { budget: input.budget && withMode(input.budget) } };
  const [name, value] = [input.tagName.trim(), input.tagValue.trim()];
  return name === "" ? null : { changes: { add_tags: { [name]: value } } };
}

/** A change for some keys. */
export interface UndoStep {
  readonly keys: readonly ListedKey[];
  readonly body: { readonly changes: Changes };
}

/** The changes that restore keys as they were before an action. Keys with the same change are together. Empty: it cannot be undone. */
export function undoSteps(action: BulkAction, keys: readonly ListedKey[], input: BulkInput): readonly UndoStep[] {
  if (action === "revoke") return [];
  const steps = new Map<string, { keys: ListedKey[]; body: { changes: Changes } }>();
  for (const key of keys) {
    const changes = restored(action, key, input.tagName.trim());
    const text = JSON.stringify(changes);
    const step = steps.get(text) ?? { keys: [], body: { changes } };
    step.keys.push(key);
    steps.set(text, step);
  }
  return [...steps.values()];
}

function restored(action: Exclude<BulkAction, "revoke">, key: ListedKey, tag: string): Changes {
  switch (action) {
    case "disable":
    case "enable":
      return { enabled: key.enabled };
    case "transfer":
      return { owner: key.owner?.id ?? null };
    case "group":
      return { group: key.group.id };
    case "limits":
      return { limits: withMode(key.limits) };
    case "budget":
      return { budget: key.budget && withMode(key.budget) };
    case "tag":
      return Object.hasOwn(key.tags, tag) ? { add_tags: { [tag]: key.tags[tag] ?? "" } } : { remove_tags: [tag] };
  }
}
