import { createHash } from "node:crypto";
import { bounds, canonicalJson, Failure } from "#core/index.ts";
import type { Connection, Row } from "#storage/tables.ts";
import { canManageKeys } from "../people/key-owners.ts";
import { personOf, slugOf } from "../people/people-rows.ts";
import { findRow } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { groupOf } from "../workspaces/workspace-rows.ts";
import { firstGroupId, groupFromRules } from "./agent-keys.ts";

/** Managed settings of a group's agents. `text`: canonical JSON; `checksum`: `sha256:…` of the text. */
interface AgentSettings {
  readonly text: string;
  readonly checksum: string;
  readonly updatedAt: number;
}

interface GroupPlace {
  readonly workspaceId: string;
  /** Id or name. */
  readonly group: string;
}

/** One version of a group's settings. `checksum` null: the settings were removed. */
export interface AgentSettingsVersion {
  readonly version: number;
  readonly at: number;
  readonly by: string;
  readonly checksum: string | null;
}

/** The current settings of a group and their version, if there is one. */
export interface CurrentAgentSettings {
  readonly settings: AgentSettings | null;
  readonly version: AgentSettingsVersion | null;
}

interface AgentSettingsChange {
  /** null: remove them. */
  readonly settings: object | null;
  /** The expected checksum before the change; null: no settings; left out: not checked. */
  readonly replaces?: string | null | undefined;
}

/** null: the group has no managed settings. */
export async function settingsOf({ database }: Directory, groupId: string): Promise<AgentSettings | null> {
  return (await currentSettingsOf(database.reading, groupId)).settings;
}

/** Throws `not_found` when there is no such group. */
export async function settingsIn(
  { database: { kysely } }: Directory,
  { workspaceId, group }: GroupPlace,
): Promise<CurrentAgentSettings> {
  return await currentSettingsOf(kysely, (await groupOf(kysely, workspaceId, group)).id);
}

async function currentSettingsOf(connection: Connection, groupId: string): Promise<CurrentAgentSettings> {
  const row = await versionsOf(connection, groupId).select("settings").limit(1).executeTakeFirst();
  if (row === undefined) return { settings: null, version: null };
  const { settings: text, checksum, at } = row;
  const settings = text === null || checksum === null ? null : { text, checksum, updatedAt: at };
  return { settings, version: versionOf(row) };
}

/** Newest first. */
function versionsOf(connection: Connection, groupId: string) {
  return connection
    .selectFrom("agent_settings_versions")
    .where("group_id", "=", groupId)
    .orderBy("version", "desc")
    .select(["version", "at", "actor", "checksum"]);
}

function versionOf(row: Omit<Row<"agent_settings_versions">, "group_id" | "settings">): AgentSettingsVersion {
  const { version, at, actor, checksum } = row;
  return { version, at, by: actor, checksum };
}

/** Throws `invalid_request` for settings that are nested too deeply, `conflict` when `replaces` is not the current checksum. */
export async function setSettings(
  { transaction, log, at }: Write,
  { workspaceId, group, settings, replaces }: GroupPlace & AgentSettingsChange,
): Promise<CurrentAgentSettings> {
  const text = settings === null ? null : canonicalJson(settings, bounds.agentSettingsDepthMax);
  const { id, name } = await groupOf(transaction, workspaceId, group);
  const now = await currentSettingsOf(transaction, id);
  const before = now.settings;
  if (before?.text === text || (before === null && text === null)) return now;
  if (replaces !== undefined && replaces !== (before?.checksum ?? null)) {
    const { by, version } = now.version ?? {};
    const reason =
      version === undefined ? "They do not exist" : `${by} has saved version ${version} since you read them`;
    const message = `The settings were not replaced: ${reason}. Read them again first.`;
    throw new Failure("conflict", message, { param: "replaces" });
  }
  const after = text === null ? null : { text, checksum: settingsChecksum(text), updatedAt: at };
  const version = (now.version?.version ?? 0) + 1;
  const checksum = after?.checksum ?? null;
  const row = { group_id: id, version, settings: text, checksum, at, actor: log.actor };
  await transaction.insertInto("agent_settings_versions").values(row).execute();
  await transaction
    .deleteFrom("agent_settings_versions")
    .where("group_id", "=", id)
    .where("version", "<=", version - bounds.agentSettingsVersionsMax)
    .execute();
  const label = `agent settings ${await slugOf(transaction, workspaceId)}/${name}` as const;
  log.change(label, viewOf(before), viewOf(after), workspaceId);
  return { settings: after, version: versionOf(row) };
}

/** In the form that Claude Code checks. */
export function settingsChecksum(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function viewOf(settings: AgentSettings | null) {
  return settings === null ? null : { settings: JSON.parse(settings.text) as unknown, checksum: settings.checksum };
}

/** Newest first. */
export async function settingsVersions(
  { database: { kysely } }: Directory,
  { workspaceId, group }: GroupPlace,
): Promise<readonly AgentSettingsVersion[]> {
  const { id } = await groupOf(kysely, workspaceId, group);
  return (await versionsOf(kysely, id).limit(bounds.agentSettingsVersionsMax).execute()).map(versionOf);
}

/** null: there is no such version, or it was deleted. `text` null: the settings were removed. */
export async function settingsVersion(
  { database: { kysely } }: Directory,
  { workspaceId, group, version }: GroupPlace & { readonly version: number },
): Promise<(AgentSettingsVersion & { readonly text: string | null }) | null> {
  const row = await findRow(kysely, "agent_settings_versions", {
    group_id: (await groupOf(kysely, workspaceId, group)).id,
    version,
  });
  if (row === undefined) return null;
  return { ...versionOf(row), text: row.settings };
}

/**
 * The group that decides the settings of a person's agents in a workspace: the group of their key, or else the group of a first
 * sign-in. `person`: id or address. null: they are no member, have no key, and cannot sign an agent in.
 */
export async function previewSettings(
  { database: { kysely: connection } }: Directory,
  { workspaceId, person }: { readonly workspaceId: string; readonly person: string },
) {
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
    .select(["auth_users.id", "auth_users.email", "auth_users.name"])
    .select(["members.role", "api_keys.group_id", "api_keys.enabled"])
    .where((eb) => eb.or([eb("auth_users.id", "=", person), eb("auth_users.email", "=", person.toLowerCase())]))
    .executeTakeFirst();
  if (user === undefined) return null;
  const mayCall = await canManageKeys(connection, workspaceId, user.id);
  if (user.role === null && user.group_id === null && !mayCall) return null;
  const fromRules = user.group_id === null ? await groupFromRules(connection, workspaceId, user.id) : null;
  const groupId = user.group_id ?? fromRules ?? (await firstGroupId(connection, workspaceId));
  const { id, name } = await groupOf(connection, workspaceId, groupId);
  return {
    person: personOf(user),
    group: { id, name },
    by:
      user.group_id !== null ? ("key" as const) : fromRules !== null ? ("rules" as const) : ("first_sign_in" as const),
    maySignIn: user.enabled !== 0 && mayCall,
  };
}
