import type { StoredWorkspace, TenantStore } from "#ports/index.ts";
import { CommandFailed } from "./command-failed.ts";

/** The workspace that an option or argument names by its slug. */
export async function workspaceNamed(
  store: Pick<TenantStore, "workspaceNamed">,
  slug: string,
): Promise<StoredWorkspace> {
  const found = await store.workspaceNamed(slug);
  if (found === null)
    throw new CommandFailed(`there is no workspace ${JSON.stringify(slug)}; see \`sluice workspace list\``);
  return found;
}

/** Every workspace, by slug. */
export async function everyWorkspace(store: Pick<TenantStore, "workspaces">): Promise<readonly StoredWorkspace[]> {
  const found: StoredWorkspace[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.workspaces({ ids: null }, cursor, 200);
    found.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return found;
}
