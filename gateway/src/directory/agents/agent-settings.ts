import { createHash } from "node:crypto";
import { bounds, canonicalJson, Failure } from "#core/index.ts";
import type {
  AgentSettings,
  AgentSettingsChange,
  AgentSettingsNow,
  AgentSettingsPreview,
  AgentSettingsVersion,
  AuditSource,
  GroupPlace,
} from "#ports/index.ts";
import { auditedWrite, type Connection } from "#storage/tables.ts";
import { mayHoldKeys } from "../people/key-owners.ts";
import { type PeopleContext, slugOf } from "../people/people-rows.ts";
import { firstGroup, givenGroup } from "./agent-persons.ts";

export async function settingsOf(connection: Connection, groupId: string): Promise<AgentSettings | null> {
  const row = await connection
    .selectFrom("agent_settings")
    .selectAll()
    .where("group_id", "=", groupId)
    .executeTakeFirst();
  return row === undefined ? null : { text: row.settings, checksum: row.checksum, updatedAt: Number(row.updated_at) };
}

/** Throws `not_found` when there is no such group. */
export async function settingsIn(
  connection: Connection,
  { workspaceId, group }: GroupPlace,
): Promise<AgentSettingsNow> {
  return await settingsNow(connection, (await groupRow(connection, workspaceId, group)).id);
}

async function settingsNow(connection: Connection, groupId: string): Promise<AgentSettingsNow> {
  return { settings: await settingsOf(connection, groupId), version: await lastVersion(connection, groupId) };
}

export async function setSettings(
  options: PeopleContext,
  { workspaceId, group, settings, replaces }: GroupPlace & AgentSettingsChange,
  auditSource: AuditSource,
): Promise<AgentSettingsNow> {
  const text = settings === null ? null : canonicalJson(settings, bounds.agentSettingsDepthMax);
  return await auditedWrite(options, auditSource, async ({ transaction, log, at }) => {
    const { id, name } = await groupRow(transaction, workspaceId, group);
    const now = await settingsNow(transaction, id);
    const before = now.settings;
    if (before?.text === text || (before === null && text === null)) return now;
    if (replaces !== undefined && replaces !== (before?.checksum ?? null)) throw changedSince(now);
    await transaction.deleteFrom("agent_settings").where("group_id", "=", id).execute();
    const after = text === null ? null : { text, checksum: checksumOf(text), updatedAt: at };
    if (after !== null) {
      const row = { group_id: id, settings: after.text, checksum: after.checksum, updated_at: at };
      await transaction.insertInto("agent_settings").values(row).execute();
    }
    const version = await addVersion(transaction, id, after, { at, by: auditSource.actor });
    const action = before === null ? "create" : after === null ? "remove" : "update";
    const label = `agent settings ${await slugOf(transaction, workspaceId)}/${name}` as const;
    log.record(action, label, viewOf(before), viewOf(after), workspaceId);
    return { settings: after, version };
  });
}

/** Who reads it compares what is there with their own, and sets it anew. */
function changedSince({ version }: AgentSettingsNow): Failure {
  const by = version === null ? "Somebody" : version.by;
  const which = version === null ? "others" : `version ${version.version}`;
  return new Failure("conflict", `${by} has set ${which} since these settings were read. Nothing was changed.`, {
    param: "replaces",
  });
}

/** As Claude Code checks it. */
function checksumOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function viewOf(settings: AgentSettings | null) {
  return settings === null ? null : { settings: JSON.parse(settings.text) as unknown, checksum: settings.checksum };
}

export async function groupRow(connection: Connection, workspaceId: string, idOrName: string) {
  const row = await connection
    .selectFrom("groups")
    .select(["id", "name"])
    .where("workspace_id", "=", workspaceId)
    .where((eb) => eb.or([eb("id", "=", idOrName), eb("name", "=", idOrName)]))
    .executeTakeFirst();
  if (row === undefined)
    throw new Failure("not_found", "There is no such group in this workspace.", { param: "group" });
  return row;
}

async function lastVersion(connection: Connection, groupId: string): Promise<AgentSettingsVersion | null> {
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
async function addVersion(
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

/** Which group tells somebody's agents what they are set to. null: they can sign no agent in there, are no member and have no key. */
export async function previewSettings(
  connection: Connection,
  { workspaceId, person }: { readonly workspaceId: string; readonly person: string },
): Promise<AgentSettingsPreview | null> {
  const user = await connection
    .selectFrom("auth_users")
    .leftJoin("members", (join) =>
      join.onRef("members.user_id", "=", "auth_users.id").on("members.workspace_id", "=", workspaceId),
    )
    .leftJoin("api_keys", (join) =>
      join
        .onRef("api_keys.person_id", "=", "auth_users.id")
        .on("api_keys.workspace_id", "=", workspaceId)
        .on("api_keys.revoked_at", "is", null),
    )
    .select([
      "auth_users.id",
      "auth_users.email",
      "auth_users.name",
      "members.role",
      "api_keys.group_id",
      "api_keys.enabled",
    ])
    .where((eb) => eb.or([eb("auth_users.id", "=", person), eb("auth_users.email", "=", person.toLowerCase())]))
    .executeTakeFirst();
  if (user === undefined) return null;
  const mayCall = await mayHoldKeys(connection, workspaceId, user.id);
  if (user.role === null && user.group_id === null && !mayCall) return null;
  const given = user.group_id === null ? await givenGroup(connection, workspaceId, user.id) : null;
  const groupId = user.group_id ?? given ?? (await firstGroup(connection, workspaceId));
  return {
    person: { id: user.id, email: user.email, name: user.name },
    group: await groupRow(connection, workspaceId, groupId),
    by: user.group_id !== null ? "key" : given !== null ? "rules" : "first_sign_in",
    maySignIn: user.enabled !== 0 && mayCall,
  };
}
