import { bounds } from "#core/index.ts";
import type { AgentSettings, AgentSettingsVersion } from "#ports/index.ts";
import type { Connection } from "#storage/tables.ts";

export async function lastVersion(connection: Connection, groupId: string): Promise<AgentSettingsVersion | null> {
  return (await listVersions(connection, groupId, 1))[0] ?? null;
}

/** Newest first. */
export async function listVersions(
  connection: Connection,
  groupId: string,
  limit: number = bounds.agentSettingsVersionsMax,
): Promise<readonly AgentSettingsVersion[]> {
  const rows = await connection
    .selectFrom("agent_settings_versions")
    .select(["version", "checksum", "at", "actor"])
    .where("group_id", "=", groupId)
    .orderBy("version", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ version, checksum, at, actor }) => ({ version, at: Number(at), by: actor, checksum }));
}

export async function oneVersion(
  connection: Connection,
  groupId: string,
  version: number,
): Promise<(AgentSettingsVersion & { readonly text: string | null }) | null> {
  const row = await connection
    .selectFrom("agent_settings_versions")
    .selectAll()
    .where("group_id", "=", groupId)
    .where("version", "=", version)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { version, at: Number(row.at), by: row.actor, checksum: row.checksum, text: row.settings };
}

/** The next version of a group's settings; of too many the oldest goes. */
export async function addVersion(
  transaction: Connection,
  groupId: string,
  settings: AgentSettings | null,
  { at, by }: { readonly at: number; readonly by: string },
): Promise<AgentSettingsVersion> {
  const version = ((await lastVersion(transaction, groupId))?.version ?? 0) + 1;
  const checksum = settings?.checksum ?? null;
  const row = { group_id: groupId, version, settings: settings?.text ?? null, checksum, at, actor: by };
  await transaction.insertInto("agent_settings_versions").values(row).execute();
  await transaction
    .deleteFrom("agent_settings_versions")
    .where("group_id", "=", groupId)
    .where("version", "<=", version - bounds.agentSettingsVersionsMax)
    .execute();
  return { version, at, by, checksum };
}
