import type { BodyOf, ListedKey } from "@sluice/contract";

export const bulkActions = ["disable", "enable", "transfer", "group", "tag", "revoke"] as const;
export type BulkAction = (typeof bulkActions)[number];

export interface BulkInput {
  /** User id; null: no owner. */
  readonly owner: string | null;
  readonly group: string;
  readonly tagName: string;
  readonly tagValue: string;
}

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
  return Object.hasOwn(key.tags, input.tagName.trim()) && key.tags[input.tagName.trim()] === input.tagValue.trim();
}

/** null: the input is incomplete. */
export function bulkBody(action: BulkAction, input: BulkInput): Omit<BodyOf<"keys.changeMany">, "keys"> | null {
  if (action === "revoke") return { revoke: true };
  if (action === "disable" || action === "enable") return { changes: { enabled: action === "enable" } };
  if (action === "transfer") return { changes: { owner: input.owner } };
  if (action === "group") return input.group === "" ? null : { changes: { group: input.group } };
  const [name, value] = [input.tagName.trim(), input.tagValue.trim()];
  return name === "" ? null : { changes: { add_tags: { [name]: value } } };
}
