import type { ConsoleKey } from "@sluice/contract/console";
import { defaultGroupName } from "@sluice/contract/words";
import { type ApiKey, Failure, importedDigest, invalidRequest, orNotFound, type Secret } from "#core/index.ts";
import {
  boundsText,
  type Connection,
  callerKeys,
  changedColumns,
  consoleKeyOf,
  consoleKeys,
  contains,
  everyBound,
  insertRows,
  type KeyRow,
  keyOf,
  namedKeys,
  patternsOf,
  recognition,
  scopeColumns,
  updateRow,
} from "#storage/tables.ts";
import { budgetProblems } from "../budgets/fallback-models.ts";
import { canManageKeys, checkKeyOwner, mayOwnKeys, ownerOfNewKey } from "../people/key-owners.ts";
import { refuseFileDeclared, refuseFileOwned, refuseProblems, refuseSuspended } from "../refusals.ts";
import { findRow, setColumns } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import { grantProblems, groupIn, type WorkspaceRow, workspaceOf } from "../workspaces/workspace-rows.ts";
import * as rules from "./key-rules.ts";

export type NewKey = rules.KeyChange & {
  readonly name: string;
  readonly secret: Secret;
  /** User id. null: created by the command line or the first start; only admins may widen such a key. */
  readonly createdBy: string | null;
  /** If the config file declares a key of this name without a secret, sets the secret of that key instead. */
  readonly fillsDeclared?: boolean;
  /** An admin approved it, so that its creator and owner may also be a viewer. */
  readonly approved?: boolean;
};

interface Rotation {
  readonly secret: Secret;
  /** How long the old secret stays valid, at most until the key expires. */
  readonly graceMs: number;
  /** Left out: unchanged. */
  readonly expiresAt?: number | undefined;
}

/** `workspaceId` null: any workspace. */
export async function key(
  { database, clock }: ControlDirectory,
  workspaceId: string | null,
  id: string,
): Promise<ConsoleKey | null> {
  let query = consoleKeys(database.kysely).where("api_keys.id", "=", id);
  if (workspaceId !== null) query = query.where("api_keys.workspace_id", "=", workspaceId);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : consoleKeyOf(row, clock.now());
}

/** Ordered by workspace and name. `workspaceId` null: the keys of all workspaces. */
export async function listKeys(
  { database, clock }: ControlDirectory,
  workspaceId: string | null,
): Promise<readonly ConsoleKey[]> {
  let query = consoleKeys(database.kysely).orderBy("workspaces.slug").orderBy("api_keys.name");
  if (workspaceId !== null) query = query.where("api_keys.workspace_id", "=", workspaceId);
  return (await query.execute()).map((row) => consoleKeyOf(row, clock.now()));
}

/** Whether there is any key, revoked ones included. */
export async function hasKeys({ database }: ControlDirectory): Promise<boolean> {
  return (await findRow(database.kysely, "api_keys", {})) !== undefined;
}

/** `change` gets the key as read within the transaction. If it throws, nothing changes. */
export async function updateKey(
  context: ControlWrite,
  workspaceId: string,
  id: string,
  change: (before: ConsoleKey) => rules.KeyChange,
): Promise<ConsoleKey> {
  return await changeKey(context, { workspaceId, id, action: "update" }, async (row) => {
    refuseFileOwned(row, `key ${row.name}`);
    refuseRevoked(row);
    return await changedRow(context, row, change(await readKey(context.transaction, id, context.at)));
  });
}

/** Also ends an older secret that is still in its grace period. A file-managed key without a secret gets its first one. */
export async function rotateKey(
  context: ControlWrite,
  workspaceId: string,
  id: string,
  rotation: Rotation,
): Promise<ConsoleKey> {
  return await changeKey(context, { workspaceId, id, action: "rotate" }, async (row) => {
    refuseSuspended(row, `key ${row.name}`);
    if (row.digest !== null) refuseFileDeclared(row, `key ${row.name}`);
    return await rotatedRow(context, row, rotation);
  });
}

/** Revokes the key permanently, also with an old secret in its grace period. Revoking it again changes nothing. */
export async function revokeKey(context: ControlWrite, workspaceId: string, id: string): Promise<ConsoleKey> {
  return await changeKey(context, { workspaceId, id, action: "revoke" }, async (row) => {
    refuseFileDeclared(row, `key ${row.name}`);
    return row.revoked_at === null ? { ...row, revoked_at: context.at, old_digest: null, old_until: null } : row;
  });
}

/**
 * Replaces the digest of an imported key by the one of its secret, at its first use. Calls that tried the new digest just before
 * still find the old one for a while.
 */
export async function adoptSecret(context: ControlWrite, imported: string, secret: Secret): Promise<void> {
  const { transaction, vault, log, at } = context;
  const digest = vault.digest(secret.reveal());
  const row = await findRow(transaction, "api_keys", { digest: imported });
  if (row === undefined || (await rules.secretProblems(transaction, [{ ...row, digest, path: [] }])).length > 0) return;
  const columns = { digest, ...recognition(secret), old_digest: imported, old_until: at + adoptionGraceMs };
  await setColumns(transaction, "api_keys", { id: row.id }, columns);
  log.keyChanged(digest);
  log.keyChanged(imported);
  // The config snapshot has this time too.
  if ((await importedKeysUntil(transaction, at)) !== Number.POSITIVE_INFINITY) log.configChanged();
}

const adoptionGraceMs = 60_000;

/**
 * The time (Unix milliseconds) until which secrets may have to be compared with digests of imported keys. Infinity: an imported key was not
 * used here yet. null: no key needs it.
 */
export async function importedKeysUntil(connection: Connection, now: number): Promise<number | null> {
  const current = await connection
    .selectFrom("api_keys")
    .select("id")
    .where("digest", ">=", importedDigest(""))
    .where("digest", "<", afterImportedDigests)
    .limit(1)
    .executeTakeFirst();
  if (current !== undefined) return Number.POSITIVE_INFINITY;
  const rotated = await connection
    .selectFrom("api_keys")
    .select((eb) => eb.fn.max<number | null>("old_until").as("until"))
    .where("old_digest", ">=", importedDigest(""))
    .where("old_digest", "<", afterImportedDigests)
    .executeTakeFirst();
  const until = rotated?.until ?? null;
  return until === null || Number(until) <= now ? null : Number(until);
}

/** The first text after all that begin with `imported:`. */
const afterImportedDigests = "imported;";

/** Finds a key by id, by the prefix of its secret, or by name. Throws `invalid_request` when several keys match. */
export async function resolveKey(
  { database, clock }: ControlDirectory,
  idOrPrefix: string,
): Promise<ConsoleKey | null> {
  const keys = consoleKeys(database.kysely);
  const byId = await keys.where("api_keys.id", "=", idOrPrefix).executeTakeFirst();
  if (byId !== undefined) return consoleKeyOf(byId, clock.now());
  // Keys without a secret have an empty prefix.
  if (idOrPrefix === "") return null;
  const byPrefix = keys.where("api_keys.prefix", "=", idOrPrefix);
  const found =
    (await singleKey(byPrefix, `Several keys begin with ${idOrPrefix}. Use the id of one.`)) ??
    (await keyByName(database.kysely, idOrPrefix));
  return found === undefined ? null : consoleKeyOf(found, clock.now());
}

/** A key in use by its name or by `workspace/name`. */
async function keyByName(connection: Connection, text: string) {
  const slash = text.indexOf("/");
  const named = consoleKeys(connection)
    .where("api_keys.revoked_at", "is", null)
    .where((eb) =>
      eb.or([
        eb("api_keys.name", "=", text),
        eb.and([eb("workspaces.slug", "=", text.slice(0, slash)), eb("api_keys.name", "=", text.slice(slash + 1))]),
      ]),
    );
  return await singleKey(named, `Several keys are called ${text}. Add the workspace, as in acme/ci, or use the id.`);
}

async function singleKey(query: ReturnType<typeof consoleKeys>, message: string) {
  const [only, other] = await query.limit(2).execute();
  if (other === undefined) return only;
  throw invalidRequest("key", message);
}

/** A revoked key of the same name is renamed. */
export async function addKey(context: ControlWrite, workspaceId: string, wanted: NewKey): Promise<ConsoleKey> {
  const { transaction, at } = context;
  const workspace = await workspaceOf(transaction, workspaceId);
  refuseSuspended(workspace, `workspace ${workspace.slug}`);
  refuseProblems(rules.keyProblems(wanted, { now: at, before: null }));
  refuseProblems(await grantProblems(transaction, wanted.pass_through));
  refuseProblems(await budgetProblems(transaction, wanted.budget));
  const { createdBy, approved = false } = wanted;
  const mayCreate = approved ? mayOwnKeys : canManageKeys;
  if (createdBy !== null && !(await mayCreate(transaction, workspaceId, createdBy))) {
    // They may have lost the right since the handler checked it.
    throw new Failure("forbidden", "You can no longer create keys in this workspace.");
  }
  if (!approved)
    await checkKeyOwner(transaction, workspaceId, wanted.owner, { service: Number(wanted.service ?? false) });
  const object = rules.keyObject(workspace.slug);
  const before = await rules.findKeyByName(transaction, workspaceId, wanted.name);
  if (wanted.fillsDeclared === true && before?.managed_by === "file" && before.digest === null) {
    const after = await rotatedRow(context, before, { secret: wanted.secret, graceMs: 0 });
    await updateRow(context, object, { before, after, action: "rotate" });
    return await readKey(transaction, before.id, at);
  }
  if (before !== null) {
    if (before.revoked_at === null) refuseSuspended(before, `key ${before.name}`);
    // The config file matches its keys by name, also revoked ones.
    if (before.revoked_at === null || before.managed_by === "file") throw nameConflict(workspace, wanted.name);
    await updateRow(context, object, {
      before,
      after: { ...before, name: await rules.nameOfRevoked(transaction, before) },
    });
  }
  const row = await newRow(context, workspaceId, wanted);
  await insertRows(context, object, [row]);
  refuseProblems(await rules.keyCountProblems(transaction, workspaceId));
  return await readKey(transaction, row.id, at);
}

async function newRow(context: ControlWrite, workspaceId: string, wanted: NewKey): Promise<KeyRow> {
  const { transaction, vault } = context;
  const group_id = await groupIdOf(transaction, workspaceId, wanted.group ?? defaultGroupName);
  const row: KeyRow = {
    ...rules.keyRowDefaults(context, { workspace_id: workspaceId, group_id, name: wanted.name }, wanted),
    digest: vault.digest(wanted.secret.reveal()),
    ...recognition(wanted.secret),
    created_by: wanted.createdBy,
    set_by_admins: wanted.createdBy === null ? everyBound : boundsText(wanted.setByAdmins ?? []),
    owner_id: await ownerOfNewKey(transaction, workspaceId, wanted),
  };
  refuseProblems(await rules.secretProblems(transaction, [{ ...row, path: ["secret"] }]));
  return row;
}

/** Nothing is written when `change` returns an equal row. */
async function changeKey(
  context: ControlWrite,
  { workspaceId, id, action }: { workspaceId: string; id: string; action: "update" | "rotate" | "revoke" },
  change: (row: KeyRow) => Promise<KeyRow>,
): Promise<ConsoleKey> {
  const row = await namedKeys(context.transaction)
    .where("api_keys.id", "=", id)
    .where("api_keys.workspace_id", "=", workspaceId)
    .executeTakeFirst();
  const { workspace_slug, group_name: _group, ...before } = orNotFound(row, "key in this workspace", "key");
  await updateRow(context, rules.keyObject(workspace_slug), { before, after: await change(before), action });
  return await readKey(context.transaction, id, context.at);
}

async function changedRow({ transaction, at }: ControlWrite, row: KeyRow, change: rules.KeyChange): Promise<KeyRow> {
  refuseProblems(rules.keyProblems(change, { now: at, before: row }));
  refuseProblems(await grantProblems(transaction, change.pass_through, patternsOf(row.pass_through)));
  refuseProblems(await budgetProblems(transaction, change.budget, row));
  if (change.name !== undefined && change.name !== row.name) {
    const workspace = await workspaceOf(transaction, row.workspace_id);
    if ((await rules.findKeyByName(transaction, workspace.id, change.name)) !== null)
      throw nameConflict(workspace, change.name);
  }
  if (change.owner !== row.owner_id) await checkKeyOwner(transaction, row.workspace_id, change.owner, row);
  return {
    ...row,
    name: change.name ?? row.name,
    owner_id: change.owner === undefined ? row.owner_id : change.owner,
    group_id: change.group === undefined ? row.group_id : await groupIdOf(transaction, row.workspace_id, change.group),
    ...changedColumns(change),
    set_by_admins: change.setByAdmins === undefined ? row.set_by_admins : boundsText(change.setByAdmins),
  };
}

async function rotatedRow(
  { transaction, at, vault }: ControlWrite,
  row: KeyRow,
  { secret, graceMs, expiresAt }: Rotation,
): Promise<KeyRow> {
  refuseRevoked(row);
  refuseProblems(rules.keyProblems({ expires_at: expiresAt }, { now: at, before: row }));
  const isExpired = row.expires_at !== null && row.expires_at <= at;
  if (row.service === 1 && isExpired && expiresAt === undefined) {
    const message = `The service token ${row.name} has expired. Set \`expires_at\` for the new secret.`;
    throw invalidRequest("expires_at", message);
  }
  if (row.person_id !== null) {
    throw new Failure("conflict", `The key ${row.name} belongs to agent sign-ins and has no secret to rotate.`);
  }
  const digest = vault.digest(secret.reveal());
  refuseProblems(await rules.secretProblems(transaction, [{ id: "", digest, path: ["secret"] }]));
  const keepsOld = graceMs > 0 && row.digest !== null && !isExpired;
  return {
    ...row,
    digest,
    ...recognition(secret),
    ...changedColumns({ expires_at: expiresAt }),
    old_digest: keepsOld ? row.digest : null,
    old_until: keepsOld ? Math.min(at + graceMs, row.expires_at ?? Number.POSITIVE_INFINITY) : null,
  };
}

async function readKey(connection: Connection, id: string, now: number): Promise<ConsoleKey> {
  return consoleKeyOf(await consoleKeys(connection).where("api_keys.id", "=", id).executeTakeFirstOrThrow(), now);
}

async function groupIdOf(connection: Connection, workspaceId: string, idOrName: string): Promise<string> {
  const group = await groupIn(connection, workspaceId, idOrName);
  if (group === undefined && idOrName === defaultGroupName) {
    const message = "This workspace has no group called default. Set the group of the key.";
    throw new Failure("not_found", message, { param: "group" });
  }
  return orNotFound(group, "group in this workspace", "group").id;
}

function refuseRevoked(row: KeyRow): void {
  if (row.revoked_at === null) return;
  throw new Failure("conflict", `The key ${row.name} is revoked, which is permanent. Create a new key.`);
}

function nameConflict(workspace: WorkspaceRow, name: string): Failure {
  return new Failure("conflict", `There is already a key called ${name} in ${workspace.slug}.`, { param: "name" });
}

const noLimits = scopeColumns(undefined, null).limits;

interface LimitedKeyFilter {
  readonly workspaceId: string | null;
  /** Part of the name. */
  readonly search?: string;
  readonly keyId?: string;
  /** Keys that count against the limits of this user. */
  readonly ownerId?: string;
  /** Keys that count against the limits of this user or of no user. */
  readonly visiblePerson?: string | undefined;
}

/** Keys in use that have a limit or a budget, ordered by workspace and name. */
export async function limitedKeys(
  { database }: ControlDirectory,
  filter: LimitedKeyFilter,
  limit: number,
): Promise<readonly ApiKey[]> {
  let query = callerKeys(database.kysely)
    .where("api_keys.revoked_at", "is", null)
    .where((eb) => eb.or([eb("api_keys.limits", "!=", noLimits), eb("api_keys.budget", "is not", null)]))
    .orderBy("workspaces.slug")
    .orderBy("api_keys.name")
    .limit(limit);
  if (filter.workspaceId !== null) query = query.where("api_keys.workspace_id", "=", filter.workspaceId);
  if (filter.keyId !== undefined) query = query.where("api_keys.id", "=", filter.keyId);
  const { ownerId, search, visiblePerson } = filter;
  if (ownerId !== undefined) {
    query = query.where((eb) => eb.or([eb("api_keys.owner_id", "=", ownerId), eb("api_keys.person_id", "=", ownerId)]));
  }
  if (visiblePerson !== undefined) {
    query = query.where((eb) => {
      const userId = eb.fn.coalesce("api_keys.person_id", "api_keys.owner_id");
      return eb.or([eb(userId, "is", null), eb(userId, "=", visiblePerson)]);
    });
  }
  if (search !== undefined && search !== "") {
    query = query.where((eb) => contains(eb.ref("api_keys.name"), search));
  }
  return (await query.execute()).map(keyOf);
}

/**
 * Enabled keys that expire after `after` and until `until` (Unix milliseconds), the next first. `userId`: only the user's own, which they
 * created or own.
 */
export async function expiringKeys(
  { database }: ControlDirectory,
  { workspaceId, userId }: { readonly workspaceId: string | null; readonly userId?: string | undefined },
  after: number,
  until: number,
  limit: number,
) {
  let query = expiring(database.kysely, after, until, limit);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  if (userId !== undefined) {
    query = query.where((eb) => eb.or([eb("owner_id", "=", userId), eb("created_by", "=", userId)]));
  }
  return await query.execute();
}

export type ExpiringToken = Awaited<ReturnType<typeof expiringTokens>>[number];

/** Enabled service tokens that expire after `after` and until `until` (Unix milliseconds), the next first. */
export async function expiringTokens(
  { database }: ControlDirectory,
  workspaceIds: readonly string[],
  after: number,
  until: number,
  limit: number,
) {
  if (workspaceIds.length === 0) return [];
  return await expiring(database.kysely, after, until, limit)
    .where("service", "=", 1)
    .where("workspace_id", "in", [...workspaceIds])
    .execute();
}

function expiring(connection: Connection, after: number, until: number, limit: number) {
  return connection
    .selectFrom("api_keys")
    .select(["id as keyId", "workspace_id as workspaceId", "name"])
    .select((eb) => eb.ref("expires_at").$notNull().as("expiresAt"))
    .where("enabled", "=", 1)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", after)
    .where("expires_at", "<=", until)
    .orderBy("expires_at")
    .orderBy("id")
    .limit(limit);
}
