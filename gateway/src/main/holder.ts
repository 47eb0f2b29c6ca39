import type { Principal, Task } from "#core/index.ts";
import type { CatalogHolder } from "./catalog-holder.ts";
import type { Control } from "./control.ts";

interface Whence {
  readonly catalog: Pick<CatalogHolder, "current">;
  readonly control: Pick<Control, "controlStore">;
}

/** Who made a task, under the catalog in force; null when the key or what it stands in is gone. */
export async function holderOf(
  { catalog, control }: Whence,
  holder: Pick<Task, "workspaceId" | "groupId" | "keyId" | "personId">,
): Promise<Principal | null> {
  const workspace = catalog.current.workspaces.get(holder.workspaceId);
  const group = catalog.current.groups.get(holder.groupId);
  const key = await control.controlStore.keyById(holder.keyId);
  if (workspace === undefined || group === undefined || key === null) return null;
  const person = holder.personId ?? null;
  return { key, group, workspace, person, scopes: [workspace.scope, group.scope, key.scope] };
}
