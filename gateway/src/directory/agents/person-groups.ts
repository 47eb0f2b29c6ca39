import { type AuditedWrite, type Connection, updateRow } from "#storage/tables.ts";
import { keyObject } from "../keys/key-object.ts";
import { slugOf } from "../people/people-rows.ts";
import { firstGroup, signInKey } from "./agent-groups.ts";

/**
 * Puts somebody's keys for sign-ins into the groups that sources give them. A key that an admin moved by hand stays where it is. Where
 * several sources name a group, single sign-on counts before SCIM, and among its accounts the first by id.
 */
export async function placeKeys(under: AuditedWrite, userId: string): Promise<void> {
  const { transaction } = under;
  const wanted = await wantedGroups(transaction, userId);
  const placed = await placedGroups(transaction, userId);
  for (const workspaceId of new Set([...wanted.keys(), ...placed.keys()])) {
    const [from, to] = [placed.get(workspaceId) ?? null, wanted.get(workspaceId) ?? null];
    if (from === to) continue;
    await moveKey(under, { userId, workspaceId, from, to });
    await transaction
      .deleteFrom("person_groups")
      .where("user_id", "=", userId)
      .where("workspace_id", "=", workspaceId)
      .execute();
    if (to === null) continue;
    const row = { user_id: userId, workspace_id: workspaceId, group_id: to };
    await transaction.insertInto("person_groups").values(row).execute();
  }
}

/** Ids by workspace, of groups that are still there. */
async function wantedGroups(connection: Connection, userId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await connection
    .selectFrom("given_rights")
    .innerJoin("groups", "groups.id", "given_rights.group_id")
    .select(["groups.workspace_id", "groups.id"])
    .where("given_rights.user_id", "=", userId)
    .orderBy("given_rights.source")
    .execute();
  const wanted = new Map<string, string>();
  for (const { workspace_id, id } of rows) if (!wanted.has(workspace_id)) wanted.set(workspace_id, id);
  return wanted;
}

async function placedGroups(connection: Connection, userId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await connection.selectFrom("person_groups").selectAll().where("user_id", "=", userId).execute();
  return new Map(rows.map((row) => [row.workspace_id, row.group_id]));
}

interface KeyMove {
  readonly userId: string;
  readonly workspaceId: string;
  readonly from: string | null;
  readonly to: string | null;
}

async function moveKey(under: AuditedWrite, { userId, workspaceId, from, to }: KeyMove): Promise<void> {
  const { transaction } = under;
  const key = await signInKey(transaction, workspaceId, userId);
  if (key === undefined) return;
  const first = await firstGroup(transaction, workspaceId);
  if (key.group_id !== (from ?? first)) return;
  const object = keyObject(new Map([[workspaceId, await slugOf(transaction, workspaceId)]]));
  await updateRow(under, object, { before: key, after: { ...key, group_id: to ?? first } });
}
