import { Failure } from "#core/index.ts";
import { type AuditedWrite, type Connection, removeRows } from "#storage/tables.ts";
import { type WorkspaceRow, workspaceObject } from "./tenant-rows.ts";

/** Throws `conflict` with what stands in the way: a key in use, an open task, an asset group. */
export async function refuseWorkspaceInUse(connection: Connection, workspace: WorkspaceRow): Promise<void> {
  const key = await connection
    .selectFrom("api_keys")
    .select("name")
    .where("workspace_id", "=", workspace.id)
    .where("revoked_at", "is", null)
    .where("managed_by", "!=", "suspended")
    // Those of people who signed in go with the workspace.
    .where("person_id", "is", null)
    .limit(1)
    .executeTakeFirst();
  if (key !== undefined) throw inUse(workspace, `the key ${key.name} is still in use. Revoke its keys first.`);
  const work = await workLeft(connection, workspace.id);
  if (work !== null) throw inUse(workspace, work);
}

/** What a workspace has that would be lost without it, though no key of it is in use; null: nothing. */
export async function workLeft(connection: Connection, workspaceId: string): Promise<string | null> {
  const task = await connection
    .selectFrom("tasks")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("final", "=", 0)
    .limit(1)
    .executeTakeFirst();
  if (task !== undefined) return `the task ${task.id} has not ended. Cancel it, or wait for it.`;
  const assets = await connection
    .selectFrom("asset_groups")
    .select("name")
    .where("workspace_id", "=", workspaceId)
    .limit(1)
    .executeTakeFirst();
  // They may stand in an upstream's library too, where removing the row would leave them for ever.
  return assets === undefined ? null : `it has assets, in ${assets.name}. Remove its asset groups first.`;
}

/**
 * Takes the workspace with its groups, its revoked and suspended keys, and whoever belongs to it. Ledger entries, ended tasks and the
 * audit log name it by its id and stay.
 */
export async function removeWorkspaceRows(under: AuditedWrite, workspace: WorkspaceRow): Promise<void> {
  const { transaction, log } = under;
  const keys = await transaction
    .deleteFrom("api_keys")
    .where("workspace_id", "=", workspace.id)
    .returning(["digest", "old_digest"])
    .execute();
  await transaction.deleteFrom("groups").where("workspace_id", "=", workspace.id).execute();
  // Its invitations and admin tokens go with its row; who was in it is for the audit log.
  const members = await transaction
    .deleteFrom("members")
    .where("workspace_id", "=", workspace.id)
    .returning(["user_id", "role"])
    .execute();
  await transaction.deleteFrom("notices").where("workspace_id", "=", workspace.id).execute();
  await removeRows(under, workspaceObject, [workspace], { revoked_keys: keys.length, members });
  for (const key of keys) {
    log.keyChanged(key.digest);
    log.keyChanged(key.old_digest);
  }
}

function inUse(workspace: WorkspaceRow, why: string): Failure {
  return new Failure("conflict", `The workspace ${workspace.slug} cannot be removed: ${why}`);
}
