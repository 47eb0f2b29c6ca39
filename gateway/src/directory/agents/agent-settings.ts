import { createHash } from "node:crypto";
import { bounds, canonicalJson, Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { auditedWrite, type Connection } from "#storage/tables.ts";
import { mayHoldKeys } from "../people/key-owners.ts";
import { type PeopleContext, slugOf } from "../people/people-rows.ts";
import { groupOf } from "../workspaces/workspace-rows.ts";
import { firstGroup, givenGroup } from "./agent-persons.ts";

/** What the agents of a group are to be set to. `text` is JSON with sorted keys and no white space; `checksum` is of it: `sha256:…`. */
interface AgentSettings {
  readonly text: string;
  readonly checksum: string;
  readonly updatedAt: number;
}

/** A group, by id or name. */
interface GroupPlace {
  readonly workspaceId: string;
  readonly group: string;
}

/** One version of a group's settings. `checksum` null: it took them away. */
export interface AgentSettingsVersion {
  readonly version: number;
  readonly at: number;
  readonly by: string;
  readonly checksum: string | null;
}

/** What a group's agents are set to now, and the version that set it so, of which there may be none. */
export interface AgentSettingsNow {
  readonly settings: AgentSettings | null;
  readonly version: AgentSettingsVersion | null;
}

interface AgentSettingsChange {
  /** null: nothing any more. */
  readonly settings: object | null;
  /** The checksum of what is to be changed, null: of nothing; left out: whatever is there. */
  readonly replaces?: string | null | undefined;
}

/** null: nothing is managed for this group. */
export async function settingsOf(connection: Connection, groupId: string): Promise<AgentSettings | null> {
  const row = await connection
    .selectFrom("agent_settings")
    .selectAll()
    .where("group_id", "=", groupId)
    .executeTakeFirst();
  return row === undefined ? null : { text: row.settings, checksum: row.checksum, updatedAt: Number(row.updated_at) };
}

/** By id or name, with who set it. Throws `not_found` when there is no such group. */
export async function settingsIn(
  { database: { kysely } }: PeopleContext,
  { workspaceId, group }: GroupPlace,
): Promise<AgentSettingsNow> {
  return await settingsNow(kysely, (await groupOf(kysely, workspaceId, group)).id);
}

async function settingsNow(connection: Connection, groupId: string): Promise<AgentSettingsNow> {
  return { settings: await settingsOf(connection, groupId), version: await lastVersion(connection, groupId) };
}

/** Throws `invalid_request` for what is nested too deeply, `conflict` where others are set than those that it replaces. */
export async function setSettings(
  options: PeopleContext,
  { workspaceId, group, settings, replaces }: GroupPlace & AgentSettingsChange,
  auditSource: AuditSource,
): Promise<AgentSettingsNow> {
  const text = settings === null ? null : canonicalJson(settings, bounds.agentSettingsDepthMax);
  return await auditedWrite(options, auditSource, async ({ transaction, log, at }) => {
    const { id, name } = await groupOf(transaction, workspaceId, group);
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

async function lastVersion(connection: Connection, groupId: string): Promise<AgentSettingsVersion | null> {
  return (await listVersions(connection, groupId, 1))[0] ?? null;
}

/** Newest first. */
export async function settingsVersions(
  { database: { kysely } }: PeopleContext,
  { workspaceId, group }: GroupPlace,
): Promise<readonly AgentSettingsVersion[]> {
  return await listVersions(kysely, (await groupOf(kysely, workspaceId, group)).id);
}

async function listVersions(
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

/** null: it is not kept, or never was. `text` null: it took the settings away. */
export async function settingsVersion(
  { database: { kysely } }: PeopleContext,
  { workspaceId, group, version }: GroupPlace & { readonly version: number },
): Promise<(AgentSettingsVersion & { readonly text: string | null }) | null> {
  const row = await kysely
    .selectFrom("agent_settings_versions")
    .selectAll()
    .where("group_id", "=", (await groupOf(kysely, workspaceId, group)).id)
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

/** Which group tells somebody's agents in a workspace what they are set to. */
interface AgentSettingsPreview {
  readonly person: { readonly id: string; readonly email: string; readonly name: string };
  readonly group: { readonly id: string; readonly name: string };
  /** Of the key that they call with, which they have; else of a first sign-in, where rules may put them. */
  readonly by: "key" | "rules" | "first_sign_in";
  readonly maySignIn: boolean;
}

/** `person` is an id or an address. null: they can sign no agent in there, are no member and have no key. */
export async function previewSettings(
  { database: { kysely: connection } }: PeopleContext,
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
  const { id, name } = await groupOf(connection, workspaceId, groupId);
  return {
    person: { id: user.id, email: user.email, name: user.name },
    group: { id, name },
    by: user.group_id !== null ? "key" : given !== null ? "rules" : "first_sign_in",
    maySignIn: user.enabled !== 0 && mayCall,
  };
}
