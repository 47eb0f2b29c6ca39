import { type Principal, personOf, scopesOf, type Task } from "#core/index.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import type { Control } from "./control.ts";

interface Whence {
  readonly configSnapshot: Pick<ConfigSnapshotHolder, "current">;
  readonly control: Pick<Control, "controlStore">;
}

/** Who made a task, under the config snapshot in force; null when the key or what it stands in is gone. */
export async function holderOf(
  { configSnapshot, control }: Whence,
  holder: Pick<Task, "workspaceId" | "groupId" | "keyId" | "personId">,
): Promise<Principal | null> {
  const workspace = configSnapshot.current.workspaces.get(holder.workspaceId);
  const group = configSnapshot.current.groups.get(holder.groupId);
  const key = await control.controlStore.keyById(holder.keyId);
  if (workspace === undefined || group === undefined || key === null) return null;
  const person = holder.personId ?? null;
  // A key that has changed hands since has what limits another.
  const { personScope, ...own } = key;
  const scopes = scopesOf(workspace, group, personOf(key) === person ? key : own);
  return { key, group, workspace, person, scopes };
}
