import type { StoredWorkspace, TenantStore } from "#ports/index.ts";

/** A workspace as `--json` shows it, with the names of its groups. `keys`: how many are not revoked. */
export async function workspaceView(store: Pick<TenantStore, "groups">, workspace: StoredWorkspace) {
  const groups = await store.groups(workspace.id);
  return {
    id: workspace.id,
    slug: workspace.slug,
    name: workspace.name,
    groups: groups.map(({ name }) => name),
    keys: workspace.keys,
    managed_by: workspace.managed_by,
  };
}
