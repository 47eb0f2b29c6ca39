import type { ConsoleKey, LeaverKeyAction, LeaverKeys } from "@sluice/contract";

/** Reversible ones first. */
export const keyActions = ["transfer", "disable", "revoke"] as const;
export type KeyAction = (typeof keyActions)[number];

/** How a key belongs to a person. */
export function relationOf(
  key: Pick<ConsoleKey, "created_by" | "owner">,
  personId: string,
): "both" | "created" | "owned" {
  if (key.owner?.id !== personId) return "created";
  return key.created_by?.id === personId ? "both" : "owned";
}

/**
 * The decision about every key by its id; null: something is missing. `heirs`: the new owner of transferred keys, by the slug of their
 * workspace.
 */
export function decisionsOf(
  keys: readonly Pick<ConsoleKey, "id" | "workspace">[],
  actions: ReadonlyMap<string, KeyAction>,
  heirs: ReadonlyMap<string, string>,
): LeaverKeys | null {
  const decisions = new Map<string, { action: LeaverKeyAction; keys: string[] }>();
  for (const { id, workspace } of keys) {
    const chosen = actions.get(id);
    const heir = heirs.get(workspace.slug);
    if (chosen === undefined || (chosen === "transfer" && heir === undefined)) return null;
    const action = chosen === "transfer" ? { hand_over_to: heir ?? "" } : chosen;
    const name = JSON.stringify(action);
    const decision = decisions.get(name) ?? { action, keys: [] };
    decision.keys.push(id);
    decisions.set(name, decision);
  }
  return [...decisions.values()];
}
