import type { ConsoleKey } from "@sluice/contract/console";
import { defaultGroupName } from "@sluice/contract/words";
import { bounds, Failure } from "#core/index.ts";
import type { AuditSource, KeyChange, KeyOfUser, Rotation, TenantStore } from "#ports/index.ts";
import { ChangeLog } from "../../changes/change-log.ts";
import type { Connection } from "../../database/database.ts";
import { changedScope, patternsText, scopeColumns } from "../../database/scope-columns.ts";
import { consoleKeyOf, consoleKeys } from "../../keys/console-keys.ts";
import { boundsText, type KeyRow, keyView, type NamedKeyRow, namedKeys, recognition } from "../../keys/key-rows.ts";
import { mayHoldKeys } from "../../people/people-keys.ts";
import type { ControlOptions } from "../config-file/apply-config.ts";
import { refuseTakenSecret } from "./key-writes.ts";
import { groupIn, refuseFileOwned, type WorkspaceRow, workspaceRow } from "./tenant-rows.ts";

type KeyPart = Pick<TenantStore, "key" | "addKey" | "updateKey" | "rotateKey" | "endKey">;

export function tenantKeys(options: ControlOptions): KeyPart {
  const { kysely } = options.database;
  return {
    async key(workspaceId, id) {
      let query = consoleKeys(kysely).where("api_keys.id", "=", id);
      if (workspaceId !== null) query = query.where("api_keys.workspace_id", "=", workspaceId);
      const row = await query.executeTakeFirst();
      return row === undefined ? null : consoleKeyOf(row, options.clock.now());
    },
    addKey: (workspaceId, key, auditSource) => addKey(options, workspaceId, key, auditSource),
    updateKey: (workspaceId, id, change, auditSource) =>
      changeKey(options, { workspaceId, id, auditSource, action: "update" }, async (row, transaction) => {
        refuseRevoked(row);
        return await changedRow(transaction, row, change(await shown(transaction, id, options.clock.now())));
      }),
    rotateKey: (workspaceId, id, rotation, auditSource) =>
      changeKey(options, { workspaceId, id, auditSource, action: "rotate" }, (row, transaction) =>
        rotatedRow(options, transaction, row, rotation),
      ),
    endKey: (workspaceId, id, auditSource) =>
      changeKey(options, { workspaceId, id, auditSource, action: "revoke" }, (row) =>
        revokedRow(row, options.clock.now()),
      ),
  };
}

async function addKey(
  options: ControlOptions,
  workspaceId: string,
  wanted: KeyOfUser,
  auditSource: AuditSource,
): Promise<ConsoleKey> {
  const { database, clock, vault } = options;
  return await database.kysely.transaction().execute(async (transaction) => {
    const workspace = await workspaceRow(transaction, workspaceId);
    const at = clock.now();
    const log = new ChangeLog(auditSource, at);
    const digest = vault.digest(wanted.secret.reveal());
    await refuseTakenSecret(transaction, digest);
    await refuseTooMany(transaction, workspaceId);
    if (!(await mayHoldKeys(transaction, workspaceId, wanted.createdBy))) {
      // They were let in a moment ago, and left since: what they leave behind was looked for without this key.
      throw new Failure("forbidden", "You can no longer make keys in this workspace.");
    }
    await freeName(transaction, { workspace, log }, wanted.name);
    const row: KeyRow = {
      id: options.ids.next("key_"),
      workspace_id: workspaceId,
      group_id: await groupIdOf(transaction, workspaceId, wanted.group ?? defaultGroupName),
      name: wanted.name,
      digest,
      ...recognition(wanted.secret),
      models: patternsText(wanted.models),
      pass_through: JSON.stringify(wanted.passThrough ?? []),
      allowed_ips: patternsText(wanted.allowedIps),
      ...scopeColumns(wanted.limits, wanted.budget),
      tags: JSON.stringify(wanted.tags ?? {}),
      capture: wanted.capture ?? "none",
      enabled: wanted.enabled === false ? 0 : 1,
      revoked_at: null,
      expires_at: wanted.expiresAt ?? null,
      managed_by: "console",
      created_at: at,
      created_by: wanted.createdBy,
      set_by_admins: boundsText(wanted.setByAdmins ?? []),
      old_digest: null,
      old_until: null,
    };
    await transaction.insertInto("api_keys").values(row).execute();
    log.record("create", `key ${workspace.slug}/${row.name}`, null, keyView(row), workspaceId);
    log.keyChanged(digest);
    await log.write(transaction);
    return await shown(transaction, row.id, at);
  });
}

interface KeyWrite {
  readonly workspaceId: string;
  readonly id: string;
  readonly auditSource: AuditSource;
  readonly action: "update" | "rotate" | "revoke";
}

/** One change of one key. What gives back the row it was given changes nothing and leaves no trace. */
async function changeKey(
  options: ControlOptions,
  write: KeyWrite,
  change: (row: KeyRow, transaction: Connection) => KeyRow | Promise<KeyRow>,
): Promise<ConsoleKey> {
  const { database, clock } = options;
  return await database.kysely.transaction().execute(async (transaction) => {
    const named = await theKey(transaction, write);
    const { workspace_slug, group_name, ...before } = named;
    refuseFileOwned(before, `key ${before.name}`);
    const after = await change(before, transaction);
    const at = clock.now();
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      await transaction.updateTable("api_keys").set(after).where("id", "=", before.id).execute();
      const log = new ChangeLog(write.auditSource, at);
      log.record(
        write.action,
        `key ${workspace_slug}/${before.name}`,
        keyView(before),
        keyView(after),
        write.workspaceId,
      );
      for (const { digest, old_digest } of [before, after]) {
        log.keyChanged(digest);
        log.keyChanged(old_digest);
      }
      await log.write(transaction);
    }
    return await shown(transaction, before.id, at);
  });
}

async function changedRow(transaction: Connection, row: KeyRow, change: KeyChange): Promise<KeyRow> {
  if (change.name !== undefined && change.name !== row.name) {
    const workspace = await workspaceRow(transaction, row.workspace_id);
    await refuseTakenName(transaction, workspace, change.name);
  }
  return {
    ...row,
    name: change.name ?? row.name,
    group_id: change.group === undefined ? row.group_id : await groupIdOf(transaction, row.workspace_id, change.group),
    models: change.models === undefined ? row.models : patternsText(change.models),
    pass_through: patternsText(change.passThrough) ?? row.pass_through,
    allowed_ips: change.allowedIps === undefined ? row.allowed_ips : patternsText(change.allowedIps),
    ...changedScope(row, change),
    tags: change.tags === undefined ? row.tags : JSON.stringify(change.tags),
    capture: change.capture ?? row.capture,
    enabled: change.enabled === undefined ? row.enabled : Number(change.enabled),
    expires_at: change.expiresAt === undefined ? row.expires_at : change.expiresAt,
    set_by_admins: change.setByAdmins === undefined ? row.set_by_admins : boundsText(change.setByAdmins),
  };
}

async function rotatedRow(
  options: ControlOptions,
  transaction: Connection,
  row: KeyRow,
  { secret, graceMs }: Rotation,
): Promise<KeyRow> {
  refuseRevoked(row);
  const digest = options.vault.digest(secret.reveal());
  await refuseTakenSecret(transaction, digest);
  const keepsOld = graceMs > 0 && row.digest !== null;
  return {
    ...row,
    digest,
    ...recognition(secret),
    old_digest: keepsOld ? row.digest : null,
    old_until: keepsOld ? options.clock.now() + graceMs : null,
  };
}

function revokedRow(row: KeyRow, at: number): KeyRow {
  return row.revoked_at === null ? { ...row, revoked_at: at, old_digest: null, old_until: null } : row;
}

async function theKey(connection: Connection, { workspaceId, id }: KeyWrite): Promise<NamedKeyRow> {
  const row = await namedKeys(connection)
    .where("api_keys.id", "=", id)
    .where("api_keys.workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (row === undefined) throw new Failure("not_found", "There is no such key in this workspace.", { param: "key" });
  return row;
}

async function shown(connection: Connection, id: string, now: number): Promise<ConsoleKey> {
  return consoleKeyOf(await consoleKeys(connection).where("api_keys.id", "=", id).executeTakeFirstOrThrow(), now);
}

async function groupIdOf(connection: Connection, workspaceId: string, idOrName: string): Promise<string> {
  const group = await groupIn(connection, workspaceId, idOrName);
  if (group !== null) return group.id;
  const message =
    idOrName === defaultGroupName
      ? "This workspace has no group called default. Name the key's group."
      : "There is no such group in this workspace.";
  throw new Failure("not_found", message, { param: "group" });
}

function refuseRevoked(row: KeyRow): void {
  if (row.revoked_at === null) return;
  throw new Failure("conflict", `The key ${row.name} is revoked, which is for good. Make a new one.`);
}

async function refuseTakenName(connection: Connection, workspace: WorkspaceRow, name: string): Promise<void> {
  const holder = await holderOf(connection, workspace.id, name);
  if (holder !== null) throw taken(workspace, name);
}

/** A new key may have the name of a revoked one, which then says of itself that it is: one is not taken for the other. */
async function freeName(
  connection: Connection,
  { workspace, log }: { readonly workspace: WorkspaceRow; readonly log: ChangeLog },
  name: string,
): Promise<void> {
  const before = await holderOf(connection, workspace.id, name);
  if (before === null) return;
  // The file would look for its key by this name, and find ours.
  if (before.revoked_at === null || before.managed_by === "file") throw taken(workspace, name);
  const day = new Date(before.revoked_at).toISOString().slice(0, 10);
  const byDay = `${name} (revoked ${day})`;
  const free = (await holderOf(connection, workspace.id, byDay)) === null;
  const after = { ...before, name: free ? byDay : `${name} (revoked ${day}, ${before.id})` };
  await connection.updateTable("api_keys").set({ name: after.name }).where("id", "=", before.id).execute();
  log.record("update", `key ${workspace.slug}/${name}`, keyView(before), keyView(after), workspace.id);
}

async function holderOf(connection: Connection, workspaceId: string, name: string): Promise<KeyRow | null> {
  const row = await connection
    .selectFrom("api_keys")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row ?? null;
}

function taken(workspace: WorkspaceRow, name: string): Failure {
  return new Failure("conflict", `There is already a key called ${name} in ${workspace.slug}.`, { param: "name" });
}

async function refuseTooMany(connection: Connection, workspaceId: string): Promise<void> {
  const { n } = await connection
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("workspace_id", "=", workspaceId)
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  if (Number(n) < bounds.workspaceKeysMax) return;
  throw new Failure("conflict", `A workspace has at most ${bounds.workspaceKeysMax} keys in use. Revoke some first.`);
}
