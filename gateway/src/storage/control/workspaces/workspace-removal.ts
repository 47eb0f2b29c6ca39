import { Failure } from "#core/index.ts";
import type { ChangeLog } from "../../changes/change-log.ts";
import type { Connection } from "../../database/database.ts";
import { scopeView, type WorkspaceRow } from "./tenant-rows.ts";

/** Throws `conflict` with what stands in the way: a key in use, an open task, an asset group. */
export async function refuseWorkspaceInUse(connection: Connection, workspace: WorkspaceRow): Promise<void> {
  const key = await connection
    .selectFrom("api_keys")
    .select("name")
    .where("workspace_id", "=", workspace.id)
    .where("revoked_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  if (key !== undefined) throw inUse(workspace, `the key ${key.name} is still in use. Revoke its keys first.`);
  const task = await connection
    .selectFrom("tasks")
    .select("id")
    .where("workspace_id", "=", workspace.id)
    .where("final", "=", 0)
    .limit(1)
    .executeTakeFirst();
  if (task !== undefined) throw inUse(workspace, `the task ${task.id} has not ended. Cancel it, or wait for it.`);
  const assets = await connection
    .selectFrom("asset_groups")
    .select("name")
    .where("workspace_id", "=", workspace.id)
    .limit(1)
    .executeTakeFirst();
  // They may stand in an upstream's library too, where removing the row would leave them for ever.
  if (assets !== undefined) throw inUse(workspace, `it has assets, in ${assets.name}. Remove its asset groups first.`);
}

/**
 * Takes the workspace with its groups, its revoked keys, and whoever belongs to it. Ledger entries, ended tasks and the
 * audit log name it by its id and stay.
 */
export async function forgetWorkspace(connection: Connection, workspace: WorkspaceRow, log: ChangeLog): Promise<void> {
  const keys = await connection
    .deleteFrom("api_keys")
    .where("workspace_id", "=", workspace.id)
    .returning(["digest", "old_digest"])
    .execute();
  await connection.deleteFrom("groups").where("workspace_id", "=", workspace.id).execute();
  const belongings = await forgetBelongings(connection, workspace.id);
  await connection.deleteFrom("workspaces").where("id", "=", workspace.id).execute();
  const gone = { ...scopeView(workspace), revoked_keys: keys.length, ...belongings };
  log.record("remove", `workspace ${workspace.slug}`, gone, null, workspace.id);
  log.catalogChanged();
  for (const key of keys) {
    log.keyChanged(key.digest);
    log.keyChanged(key.old_digest);
  }
}

/** What stands beside a workspace that goes. Its invitations and admin tokens go with its row; who was in it is for the audit log. */
export async function forgetBelongings(connection: Connection, workspaceId: string) {
  const members = await connection
    .deleteFrom("members")
    .where("workspace_id", "=", workspaceId)
    .returning(["user_id", "role"])
    .execute();
  await connection.deleteFrom("notices").where("workspace_id", "=", workspaceId).execute();
  return { members };
}

function inUse(workspace: WorkspaceRow, why: string): Failure {
  return new Failure("conflict", `The workspace ${workspace.slug} cannot be removed: ${why}`);
}
