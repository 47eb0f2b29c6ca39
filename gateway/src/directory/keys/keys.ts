import type { ConsoleKey } from "@sluice/contract/console";
import { defaultGroupName } from "@sluice/contract/words";
import { type ApiKey, Failure, type Secret } from "#core/index.ts";
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
import { mayHoldKeys, ownerOfNew, refuseOwner } from "../people/key-owners.ts";
import { refuseFileDeclared, refuseFileOwned, refuseProblems, refuseSuspended } from "../refusals.ts";
import { findRow } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import { grantProblems, groupIn, type WorkspaceRow, workspaceOf } from "../workspaces/workspace-rows.ts";
import {
  blankKey,
  type KeyChange,
  keyCalled,
  keyCountProblems,
  keyObject,
  keyProblems,
  nameOfRevoked,
  secretProblems,
} from "./key-rules.ts";

export type NewKey = KeyChange & {
  readonly name: string;
  readonly secret: Secret;
  /** User id. null: not made by a user, but by the command line or the first start. Only admins may widen such a key. */
  readonly createdBy: string | null;
  /** If the config file declares a key of this name without a secret, that key gets this secret and does not change otherwise. */
  readonly fillsDeclared?: boolean;
};

/** The new secret, and how long the old one stays valid: never longer than it would have. */
interface Rotation {
  readonly secret: Secret;
  readonly graceMs: number;
  /** Left out: as before. */
  readonly expiresAt?: number | undefined;
}

/** `workspaceId` null: in any workspace. */
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

/** Ordered by workspace and name. `workspaceId` null: of every workspace. */
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

/** `change` gets the key as it is within the transaction. If it throws, nothing changes. */
export async function updateKey(
  under: ControlWrite,
  workspaceId: string,
  id: string,
  change: (before: ConsoleKey) => KeyChange,
): Promise<ConsoleKey> {
  return await changeKey(under, { workspaceId, id, action: "update" }, async (row) => {
    refuseFileOwned(row, `key ${row.name}`);
    refuseRevoked(row);
    return await changedRow(under, row, change(await shown(under.transaction, id, under.at)));
  });
}

/**
 * An older secret that was still valid from an earlier rotation ends now. A key that the config file declares without a secret gets
 * its first one, and keeps what the file says of it.
 */
export async function rotateKey(
  under: ControlWrite,
  workspaceId: string,
  id: string,
  rotation: Rotation,
): Promise<ConsoleKey> {
  return await changeKey(under, { workspaceId, id, action: "rotate" }, async (row) => {
    refuseSuspended(row, `key ${row.name}`);
    if (row.digest !== null) refuseFileDeclared(row, `key ${row.name}`);
    return await rotatedRow(under, row, rotation);
  });
}

/** Revokes the key for good, with both of its secrets. A second call changes nothing. */
export async function endKey(under: ControlWrite, workspaceId: string, id: string): Promise<ConsoleKey> {
  return await changeKey(under, { workspaceId, id, action: "revoke" }, async (row) => {
    refuseFileDeclared(row, `key ${row.name}`);
    return row.revoked_at === null ? { ...row, revoked_at: under.at, old_digest: null, old_until: null } : row;
  });
}

/** By id, or by the beginning of its secret when only one key has it, or by name. Throws `invalid_request` when several have it. */
export async function keyNamed({ database, clock }: ControlDirectory, idOrPrefix: string): Promise<ConsoleKey | null> {
  const keys = consoleKeys(database.kysely);
  const byId = await keys.where("api_keys.id", "=", idOrPrefix).executeTakeFirst();
  if (byId !== undefined) return consoleKeyOf(byId, clock.now());
  // A declared key without a secret has an empty prefix, which names nothing.
  if (idOrPrefix === "") return null;
  const byPrefix = keys.where("api_keys.prefix", "=", idOrPrefix);
  const found =
    (await onlyOne(byPrefix, `Several keys begin with ${idOrPrefix}. Name one by its id.`)) ??
    (await keyCalledSo(database.kysely, idOrPrefix));
  return found === undefined ? null : consoleKeyOf(found, clock.now());
}

/** A key in use by its name, with its workspace's slug in front where several workspaces have one. */
async function keyCalledSo(connection: Connection, text: string) {
  const slash = text.indexOf("/");
  const named = consoleKeys(connection)
    .where("api_keys.revoked_at", "is", null)
    .where((eb) =>
      eb.or([
        eb("api_keys.name", "=", text),
        eb.and([eb("workspaces.slug", "=", text.slice(0, slash)), eb("api_keys.name", "=", text.slice(slash + 1))]),
      ]),
    );
  const message = `Several keys are called ${text}. Name one with its workspace, as in acme/ci, or by its id.`;
  return await onlyOne(named, message);
}

/** The key that a query finds; undefined: none. Throws `invalid_request` where it finds several. */
async function onlyOne(query: ReturnType<typeof consoleKeys>, several: string) {
  const [only, other] = await query.limit(2).execute();
  if (other === undefined) return only;
  throw new Failure("invalid_request", several, { param: "key" });
}

/** If a revoked key has the name, that key is renamed. */
export async function addKey(under: ControlWrite, workspaceId: string, wanted: NewKey): Promise<ConsoleKey> {
  const { transaction, at } = under;
  const workspace = await workspaceOf(transaction, workspaceId);
  refuseSuspended(workspace, `workspace ${workspace.slug}`);
  refuseProblems(keyProblems(wanted, { now: at, before: null }));
  refuseProblems(await grantProblems(transaction, wanted.pass_through));
  const { createdBy } = wanted;
  if (createdBy !== null && !(await mayHoldKeys(transaction, workspaceId, createdBy))) {
    // They were let in a moment ago, and left since: what they leave behind was looked for without this key.
    throw new Failure("forbidden", "You can no longer make keys in this workspace.");
  }
  await refuseOwner(transaction, workspaceId, wanted.owner, { service: Number(wanted.service ?? false) });
  const object = keyObject(workspace.slug);
  const before = await keyCalled(transaction, workspaceId, wanted.name);
  if (wanted.fillsDeclared === true && before?.managed_by === "file" && before.digest === null) {
    const after = await rotatedRow(under, before, { secret: wanted.secret, graceMs: 0 });
    await updateRow(under, object, { before, after, action: "rotate" });
    return await shown(transaction, before.id, at);
  }
  if (before !== null) {
    // The file would look for its key by this name, and find ours.
    if (before.revoked_at === null) refuseSuspended(before, `key ${before.name}`);
    if (before.revoked_at === null || before.managed_by === "file") throw taken(workspace, wanted.name);
    await updateRow(under, object, { before, after: { ...before, name: await nameOfRevoked(transaction, before) } });
  }
  const row = await newRow(under, workspaceId, wanted);
  await insertRows(under, object, [row]);
  refuseProblems(await keyCountProblems(transaction, workspaceId));
  return await shown(transaction, row.id, at);
}

async function newRow(under: ControlWrite, workspaceId: string, wanted: NewKey): Promise<KeyRow> {
  const { transaction, vault } = under;
  const group_id = await groupIdOf(transaction, workspaceId, wanted.group ?? defaultGroupName);
  const row: KeyRow = {
    ...blankKey(under, { workspace_id: workspaceId, group_id, name: wanted.name }, wanted),
    digest: vault.digest(wanted.secret.reveal()),
    ...recognition(wanted.secret),
    created_by: wanted.createdBy,
    // What nobody of the console made is bounded by whoever made it, in everything.
    set_by_admins: wanted.createdBy === null ? everyBound : boundsText(wanted.setByAdmins ?? []),
    owner_id: await ownerOfNew(transaction, workspaceId, wanted),
  };
  refuseProblems(await secretProblems(transaction, [{ ...row, path: ["secret"] }]));
  return row;
}

/** One change of one key. What gives back the row it was given changes nothing and leaves no trace. */
async function changeKey(
  under: ControlWrite,
  place: { readonly workspaceId: string; readonly id: string; readonly action: "update" | "rotate" | "revoke" },
  change: (row: KeyRow) => Promise<KeyRow>,
): Promise<ConsoleKey> {
  const named = await namedKeys(under.transaction)
    .where("api_keys.id", "=", place.id)
    .where("api_keys.workspace_id", "=", place.workspaceId)
    .executeTakeFirst();
  if (named === undefined) {
    throw new Failure("not_found", "There is no such key in this workspace.", { param: "key" });
  }
  const { workspace_slug, group_name: _group, ...before } = named;
  await updateRow(under, keyObject(workspace_slug), { before, after: await change(before), action: place.action });
  return await shown(under.transaction, place.id, under.at);
}

async function changedRow({ transaction, at }: ControlWrite, row: KeyRow, change: KeyChange): Promise<KeyRow> {
  refuseProblems(keyProblems(change, { now: at, before: row }));
  refuseProblems(await grantProblems(transaction, change.pass_through, patternsOf(row.pass_through)));
  if (change.name !== undefined && change.name !== row.name) {
    const workspace = await workspaceOf(transaction, row.workspace_id);
    if ((await keyCalled(transaction, workspace.id, change.name)) !== null) throw taken(workspace, change.name);
  }
  if (change.owner !== row.owner_id) await refuseOwner(transaction, row.workspace_id, change.owner, row);
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
  refuseProblems(keyProblems({ expires_at: expiresAt }, { now: at, before: row }));
  const isOver = row.expires_at !== null && row.expires_at <= at;
  if (row.service === 1 && isOver && expiresAt === undefined) {
    const message = `The service token ${row.name} has expired. Say until when the new secret is valid.`;
    throw new Failure("invalid_request", message, { param: "expires_at" });
  }
  if (row.person_id !== null) {
    throw new Failure("conflict", `The key ${row.name} is that of somebody's sign-ins. It has no secret to replace.`);
  }
  const digest = vault.digest(secret.reveal());
  refuseProblems(await secretProblems(transaction, [{ id: "", digest, path: ["secret"] }]));
  const keepsOld = graceMs > 0 && row.digest !== null && !isOver;
  return {
    ...row,
    digest,
    ...recognition(secret),
    ...changedColumns({ expires_at: expiresAt }),
    old_digest: keepsOld ? row.digest : null,
    old_until: keepsOld ? Math.min(at + graceMs, row.expires_at ?? Number.POSITIVE_INFINITY) : null,
  };
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

function taken(workspace: WorkspaceRow, name: string): Failure {
  return new Failure("conflict", `There is already a key called ${name} in ${workspace.slug}.`, { param: "name" });
}

const noLimits = scopeColumns(undefined, null).limits;

/** Selects keys. `search`: a part of the name. */
interface LimitedKeyFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly keyId?: string;
  /** Whose calls they make. */
  readonly ownerId?: string;
  /** Whose keys alone are given of those that make somebody's calls. */
  readonly seenPerson?: string;
}

/** Keys in use that have a limit or a budget of their own, by name. */
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
  const { ownerId, search, seenPerson } = filter;
  if (ownerId !== undefined) {
    query = query.where((eb) => eb.or([eb("api_keys.owner_id", "=", ownerId), eb("api_keys.person_id", "=", ownerId)]));
  }
  if (seenPerson !== undefined) {
    query = query.where((eb) => {
      const whose = eb.fn.coalesce("api_keys.person_id", "api_keys.owner_id");
      return eb.or([eb(whose, "is", null), eb(whose, "=", seenPerson)]);
    });
  }
  if (search !== undefined && search !== "") {
    query = query.where((eb) => contains(eb.ref("api_keys.name"), search));
  }
  return (await query.execute()).map(keyOf);
}

/** A service token whose end is near. `expiresAt`: Unix milliseconds. */
export type EndingToken = Awaited<ReturnType<typeof endingTokens>>[number];

/**
 * Service tokens in use that expire within a time (Unix milliseconds, `until` included), the next first. Those that are disabled let
 * nobody in, so that their end is no news.
 */
export async function endingTokens(
  { database }: ControlDirectory,
  workspaceIds: readonly string[],
  after: number,
  until: number,
  limit: number,
) {
  if (workspaceIds.length === 0) return [];
  return await database.kysely
    .selectFrom("api_keys")
    .select(["id as keyId", "workspace_id as workspaceId", "name"])
    .select((eb) => eb.ref("expires_at").$notNull().as("expiresAt"))
    .where("service", "=", 1)
    .where("enabled", "=", 1)
    .where("revoked_at", "is", null)
    .where("workspace_id", "in", [...workspaceIds])
    .where("expires_at", ">", after)
    .where("expires_at", "<=", until)
    .orderBy("expires_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}
