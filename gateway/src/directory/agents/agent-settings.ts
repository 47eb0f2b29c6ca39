import { createHash } from "node:crypto";
import { bounds, canonicalJson, Failure } from "#core/index.ts";
import type { AgentSettings, AgentSettingsChange, AgentSettingsNow, AuditSource, GroupPlace } from "#ports/index.ts";
import { auditedWrite, type Connection } from "#storage/tables.ts";
import type { PeopleContext } from "../people/people-options.ts";
import { slugOf } from "../people/people-rows.ts";
import { addVersion, lastVersion } from "./agent-settings-versions.ts";

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
