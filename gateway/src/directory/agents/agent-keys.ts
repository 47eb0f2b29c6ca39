import { type ApiKey, Failure, orNotFound, personDigest, sessionDigest } from "#core/index.ts";
import type { Ids } from "#ports/index.ts";
import {
  type AuditedWrite,
  type CallerKeyRow,
  type Connection,
  callerKeys,
  insertRows,
  type KeyRow,
  keyOf,
  namedKeys,
  updateRow,
} from "#storage/tables.ts";
import { findKeyByName, keyCountProblems, keyObject, keyRowDefaults, nameOfRevoked } from "../keys/key-rules.ts";
import { canManageKeys } from "../people/key-owners.ts";
import { slugOf, type UserRow, userRow } from "../people/people-rows.ts";
import { refuseProblems } from "../refusals.ts";
import { deleteRows, findRow, findRows, putRow } from "../rows.ts";
import type { Directory } from "../store.ts";
import { firstGroup } from "../workspaces/workspace-rows.ts";

/** The key of a person's agent sign-ins, by `personDigest` or `sessionDigest`; null unless they may use it now. */
export async function findPersonKey(connection: Connection, digest: string): Promise<ApiKey | null> {
  const row = await personRow(connection, digest);
  if (row === null || row.person_id === null || row.revoked_at !== null) return null;
  return (await canManageKeys(connection, row.workspace_id, row.person_id)) ? keyOf(row) : null;
}

/** The keys of a person's agent sign-ins, one for each workspace; ordered by workspace. */
export async function keysOfPerson({ database }: Directory, userId: string): Promise<readonly ApiKey[]> {
  const rows = await callerKeys(database.reading)
    .where("api_keys.person_id", "=", userId)
    .where("api_keys.revoked_at", "is", null)
    .orderBy("workspaces.slug")
    .execute();
  return rows.map(keyOf);
}

/** Whether a digest is a `personDigest` or `sessionDigest`. Digests of secrets have other prefixes. */
export function isPersonDigest(digest: string): boolean {
  return digest.startsWith(personPrefix) || digest.startsWith(sessionPrefix);
}

const personPrefix = personDigest("");
const sessionPrefix = sessionDigest("");

async function personRow(connection: Connection, digest: string): Promise<CallerKeyRow | null> {
  const query = digest.startsWith(sessionPrefix)
    ? callerKeys(connection)
        .innerJoin("agent_sessions", "agent_sessions.key_id", "api_keys.id")
        .where("agent_sessions.id", "=", digest.slice(sessionPrefix.length))
    : callerKeys(connection).where("digest", "=", digest);
  return (await query.executeTakeFirst()) ?? null;
}

export type AgentPerson = NonNullable<Awaited<ReturnType<typeof personOfKey>>>;

/** The person who uses a key with their agents; null: they may not call now. */
export async function personOfKey(connection: Connection, keyId: string) {
  const key = await callerKeys(connection)
    .innerJoin("auth_users", "auth_users.id", "api_keys.person_id")
    .select(["auth_users.email", "auth_users.name as person_name"])
    .where("api_keys.id", "=", keyId)
    .where("api_keys.revoked_at", "is", null)
    .where("api_keys.enabled", "=", 1)
    .executeTakeFirst();
  if (key === undefined || key.person_id === null) return null;
  if (!(await canManageKeys(connection, key.workspace_id, key.person_id))) return null;
  return { userId: key.person_id, email: key.email, name: key.person_name, keyId, group: key.group_name };
}

/** Throws `forbidden` if the user may not create keys in the workspace, or if their key was disabled. */
export async function getOrCreatePersonKey(
  context: AuditedWrite & { readonly ids: Ids },
  workspaceId: string,
  userId: string,
): Promise<KeyRow> {
  const { transaction } = context;
  if (!(await canManageKeys(transaction, workspaceId, userId))) {
    throw new Failure("forbidden", "Your agents cannot call in this workspace because you may not create keys there.");
  }
  const key = await signInKey(transaction, workspaceId, userId);
  if (key === undefined) return await createPersonKey(context, workspaceId, await userRow(transaction, userId));
  if (key.enabled === 1) return key;
  throw new Failure("forbidden", "An admin of the workspace has disabled your agent sign-ins.");
}

async function createPersonKey(
  context: AuditedWrite & { readonly ids: Ids },
  workspaceId: string,
  user: UserRow,
): Promise<KeyRow> {
  const { transaction, ids, at } = context;
  const object = keyObject(await slugOf(transaction, workspaceId));
  const group_id =
    (await groupFromRules(transaction, workspaceId, user.id)) ?? (await firstGroupId(transaction, workspaceId));
  const defaults = keyRowDefaults({ ids, at, owner: "console" }, { workspace_id: workspaceId, group_id, name: "" }, {});
  const row: KeyRow = {
    ...defaults,
    name: await freeName(context, workspaceId, user.email, defaults.id),
    digest: personDigest(defaults.id),
    // Logs show it instead of the beginning of a secret.
    prefix: defaults.id,
    person_id: user.id,
  };
  await insertRows(context, object, [row]);
  refuseProblems(await keyCountProblems(transaction, workspaceId));
  return row;
}

/** The address, with the id of the key if another key has that name. */
async function freeName(context: AuditedWrite, workspaceId: string, email: string, id: string): Promise<string> {
  const before = await findKeyByName(context.transaction, workspaceId, email);
  if (before === null) return email;
  if (before.revoked_at === null || before.managed_by === "file") return `${email} (${id})`;
  const after = { ...before, name: await nameOfRevoked(context.transaction, before) };
  await updateRow(context, keyObject(await slugOf(context.transaction, workspaceId)), { before, after });
  return email;
}

/**
 * Ends a user's agent sign-ins in workspaces where they may not call any more. Call it in the transaction that removes their rights.
 * Their keys stay with their limits, in case the user comes back; the keys of a deleted user are revoked.
 */
export async function endAgentSessions(
  context: AuditedWrite,
  { userId, removed = false }: { readonly userId: string; readonly removed?: boolean },
): Promise<void> {
  const { transaction } = context;
  const keys = await namedKeys(transaction)
    .where("api_keys.person_id", "=", userId)
    .where("api_keys.revoked_at", "is", null)
    .execute();
  for (const { workspace_slug: slug, group_name: _group, ...key } of keys) {
    if (await canManageKeys(transaction, key.workspace_id, userId)) continue;
    await endSessionsOfKey(context, key.id);
    if (!removed) continue;
    const object = keyObject(slug);
    await updateRow(context, object, { before: key, after: { ...key, revoked_at: context.at }, action: "revoke" });
  }
}

/** Also deletes approved devices that have not fetched their tokens yet. */
async function endSessionsOfKey({ transaction, log }: AuditedWrite, keyId: string): Promise<void> {
  const ended = await transaction.deleteFrom("agent_sessions").where("key_id", "=", keyId).returning("id").execute();
  await deleteRows(transaction, "agent_devices", { key_id: keyId });
  for (const { id } of ended) log.keyChanged(sessionDigest(id));
  log.keyChanged(personDigest(keyId));
}

/** The group that rules chose for a user; null: none. */
export async function groupFromRules(
  connection: Connection,
  workspaceId: string,
  userId: string,
): Promise<string | null> {
  const row = await findRow(connection, "person_groups", { user_id: userId, workspace_id: workspaceId });
  return row?.group_id ?? null;
}

/** The default group of agent sign-ins. */
export async function firstGroupId(connection: Connection, workspaceId: string): Promise<string> {
  return orNotFound(await firstGroup(connection, workspaceId), "group in this workspace", "workspace").id;
}

async function signInKey(connection: Connection, workspaceId: string, userId: string) {
  return await findRow(connection, "api_keys", { person_id: userId, workspace_id: workspaceId, revoked_at: null });
}

/**
 * Moves a user's sign-in keys into the groups that rules choose. A key that an admin has moved stays. If the rules of several sources
 * choose a group, single sign-on comes before SCIM, and its accounts are ordered by id.
 */
export async function movePersonKeys(context: AuditedWrite, userId: string): Promise<void> {
  const { transaction } = context;
  const wanted = await wantedGroups(transaction, userId);
  const rows = await findRows(transaction, "person_groups", { user_id: userId });
  const current = new Map(rows.map((row) => [row.workspace_id, row.group_id]));
  for (const workspaceId of new Set([...wanted.keys(), ...current.keys()])) {
    const [from, to] = [current.get(workspaceId) ?? null, wanted.get(workspaceId) ?? null];
    if (from === to) continue;
    await moveKey(context, await signInKey(transaction, workspaceId, userId), workspaceId, { from, to });
    const place = { user_id: userId, workspace_id: workspaceId };
    if (to === null) await deleteRows(transaction, "person_groups", place);
    else await putRow(transaction, "person_groups", place, { group_id: to });
  }
}

/** The groups that rules choose for a user: group ids by workspace id. */
async function wantedGroups(connection: Connection, userId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await connection
    .selectFrom("granted_rights")
    .innerJoin("groups", "groups.id", "granted_rights.group_id")
    .select(["groups.workspace_id", "groups.id"])
    .where("granted_rights.user_id", "=", userId)
    .orderBy("granted_rights.source")
    .execute();
  const wanted = new Map<string, string>();
  for (const { workspace_id, id } of rows) if (!wanted.has(workspace_id)) wanted.set(workspace_id, id);
  return wanted;
}

/** Moves a sign-in key between groups. `from` or `to` null: the first group. */
async function moveKey(
  context: AuditedWrite,
  key: KeyRow | undefined,
  workspaceId: string,
  { from, to }: { readonly from: string | null; readonly to: string | null },
): Promise<void> {
  const { transaction } = context;
  if (key === undefined) return;
  const first = await firstGroupId(transaction, workspaceId);
  if (key.group_id !== (from ?? first)) return;
  const object = keyObject(await slugOf(transaction, workspaceId));
  await updateRow(context, object, { before: key, after: { ...key, group_id: to ?? first } });
}
