import { type ApiKey, Failure, personDigest, sessionDigest } from "#core/index.ts";
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
import { blankKey, keyCalled, keyCountProblems, keyObject, nameOfRevoked } from "../keys/key-rules.ts";
import { mayHoldKeys } from "../people/key-owners.ts";
import { slugOf, type UserRow, userRow } from "../people/people-rows.ts";
import { refuseProblems } from "../refusals.ts";
import { deleteRows, findRow, findRows, putRow } from "../rows.ts";
import { firstGroup } from "../workspaces/workspace-rows.ts";

/** The key that somebody's sign-ins call with, by `personDigest` or `sessionDigest`; null unless they may call there now. */
export async function personKey(connection: Connection, digest: string): Promise<ApiKey | null> {
  const row = await personRow(connection, digest);
  if (row === null || row.person_id === null || row.revoked_at !== null) return null;
  return (await mayHoldKeys(connection, row.workspace_id, row.person_id)) ? keyOf(row) : null;
}

/** The keys that somebody's sign-ins call with, one for each workspace where they ever signed in; by workspace. */
export async function keysOfPerson(connection: Connection, userId: string): Promise<readonly ApiKey[]> {
  const rows = await callerKeys(connection)
    .where("api_keys.person_id", "=", userId)
    .where("api_keys.revoked_at", "is", null)
    .orderBy("workspaces.slug")
    .execute();
  return rows.map(keyOf);
}

/** No secret has a digest like these. */
export function isPersonDigest(digest: string): boolean {
  return digest.startsWith(personStart) || digest.startsWith(sessionStart);
}

const personStart = personDigest("");
const sessionStart = sessionDigest("");

async function personRow(connection: Connection, digest: string): Promise<CallerKeyRow | null> {
  const query = digest.startsWith(sessionStart)
    ? callerKeys(connection)
        .innerJoin("agent_sessions", "agent_sessions.key_id", "api_keys.id")
        .where("agent_sessions.id", "=", digest.slice(sessionStart.length))
    : callerKeys(connection).where("digest", "=", digest);
  return (await query.executeTakeFirst()) ?? null;
}

/** Where a sign-in calls from: a person in a workspace, with the key that their calls are counted under. */
export type AgentPerson = NonNullable<Awaited<ReturnType<typeof personOfKey>>>;

/** As whom a key's sign-ins call; null: they may not now. */
export async function personOfKey(connection: Connection, keyId: string) {
  const key = await callerKeys(connection)
    .innerJoin("auth_users", "auth_users.id", "api_keys.person_id")
    .select(["auth_users.email", "auth_users.name as person_name"])
    .where("api_keys.id", "=", keyId)
    .where("api_keys.revoked_at", "is", null)
    .where("api_keys.enabled", "=", 1)
    .executeTakeFirst();
  if (key === undefined || key.person_id === null) return null;
  if (!(await mayHoldKeys(connection, key.workspace_id, key.person_id))) return null;
  return { userId: key.person_id, email: key.email, name: key.person_name, keyId, group: key.group_name };
}

/** Somebody's key for sign-ins in a workspace, made when they first sign in there. Throws `forbidden` when they may not. */
export async function personKeyIn(
  under: AuditedWrite & { readonly ids: Ids },
  workspaceId: string,
  userId: string,
): Promise<KeyRow> {
  const { transaction } = under;
  if (!(await mayHoldKeys(transaction, workspaceId, userId))) {
    throw new Failure("forbidden", "You may not make keys in this workspace, so no agent may call for you there.");
  }
  const known = await signInKey(transaction, workspaceId, userId);
  if (known === undefined) return await makePersonKey(under, workspaceId, await userRow(transaction, userId));
  if (known.enabled === 1) return known;
  throw new Failure("forbidden", "An admin of the workspace has disabled your sign-ins there.");
}

async function makePersonKey(
  under: AuditedWrite & { readonly ids: Ids },
  workspaceId: string,
  user: UserRow,
): Promise<KeyRow> {
  const { transaction, ids, at } = under;
  const object = keyObject(await slugOf(transaction, workspaceId));
  const group_id = await groupOfNewKey(transaction, workspaceId, user.id);
  const blank = blankKey({ ids, at, owner: "console" }, { workspace_id: workspaceId, group_id, name: "" }, {});
  const row: KeyRow = {
    ...blank,
    name: await freeName(under, workspaceId, user.email, blank.id),
    digest: personDigest(blank.id),
    // Logs tell it by its id, as they tell other keys by the beginning of their secret.
    prefix: blank.id,
    person_id: user.id,
  };
  await insertRows(under, object, [row]);
  refuseProblems(await keyCountProblems(transaction, workspaceId));
  return row;
}

/** The address of its person; with the id of the key where a key of that name is in use. */
async function freeName(under: AuditedWrite, workspaceId: string, email: string, id: string): Promise<string> {
  const taken = await keyCalled(under.transaction, workspaceId, email);
  if (taken === null) return email;
  if (taken.revoked_at === null || taken.managed_by === "file") return `${email} (${id})`;
  const after = { ...taken, name: await nameOfRevoked(under.transaction, taken) };
  await updateRow(under, keyObject(await slugOf(under.transaction, workspaceId)), { before: taken, after });
  return email;
}

/**
 * Ends the sign-ins of somebody's agents wherever they may call no more, in the transaction that takes their rights. Their keys stay, with
 * the limits that were set on them, for the day they come back; those of a user who is removed are revoked.
 */
export async function endAgents(
  under: AuditedWrite,
  { userId, removed = false }: { readonly userId: string; readonly removed?: boolean },
): Promise<void> {
  const { transaction } = under;
  const keys = await namedKeys(transaction)
    .where("api_keys.person_id", "=", userId)
    .where("api_keys.revoked_at", "is", null)
    .execute();
  for (const { workspace_slug: slug, group_name: _group, ...key } of keys) {
    if (await mayHoldKeys(transaction, key.workspace_id, userId)) continue;
    await endSessionsOf(under, key.id);
    if (!removed) continue;
    const object = keyObject(slug);
    await updateRow(under, object, { before: key, after: { ...key, revoked_at: under.at }, action: "revoke" });
  }
}

/** Ends every sign-in that calls with a key, and devices that were let in and did not come for it yet. */
async function endSessionsOf({ transaction, log }: AuditedWrite, keyId: string): Promise<void> {
  const ended = await transaction.deleteFrom("agent_sessions").where("key_id", "=", keyId).returning("id").execute();
  await deleteRows(transaction, "agent_devices", { key_id: keyId });
  for (const { id } of ended) log.keyChanged(sessionDigest(id));
  log.keyChanged(personDigest(keyId));
}

/** The group that somebody's key for sign-ins begins in: the one that rules give them, or else the first. */
async function groupOfNewKey(connection: Connection, workspaceId: string, userId: string): Promise<string> {
  return (await givenGroup(connection, workspaceId, userId)) ?? (await firstGroupOf(connection, workspaceId));
}

/** The group that rules give somebody; null: none. */
export async function givenGroup(connection: Connection, workspaceId: string, userId: string): Promise<string | null> {
  const given = await findRow(connection, "person_groups", { user_id: userId, workspace_id: workspaceId });
  return given?.group_id ?? null;
}

/** The group that somebody's key for sign-ins begins in where no rule says. */
export async function firstGroupOf(connection: Connection, workspaceId: string): Promise<string> {
  const group = await firstGroup(connection, workspaceId);
  if (group === undefined) throw new Failure("not_found", "This workspace has no group.", { param: "workspace" });
  return group.id;
}

/** The key of somebody's sign-ins in a workspace, unless it was revoked. */
async function signInKey(connection: Connection, workspaceId: string, userId: string) {
  return await findRow(connection, "api_keys", { person_id: userId, workspace_id: workspaceId, revoked_at: null });
}

/**
 * Puts somebody's keys for sign-ins into the groups that sources give them. A key that an admin moved by hand stays where it is. Where
 * several sources name a group, single sign-on counts before SCIM, and among its accounts the first by id.
 */
export async function placeKeys(under: AuditedWrite, userId: string): Promise<void> {
  const { transaction } = under;
  const wanted = await wantedGroups(transaction, userId);
  const rows = await findRows(transaction, "person_groups", { user_id: userId });
  const placed = new Map(rows.map((row) => [row.workspace_id, row.group_id]));
  for (const workspaceId of new Set([...wanted.keys(), ...placed.keys()])) {
    const [from, to] = [placed.get(workspaceId) ?? null, wanted.get(workspaceId) ?? null];
    if (from === to) continue;
    await moveKey(under, await signInKey(transaction, workspaceId, userId), workspaceId, { from, to });
    const place = { user_id: userId, workspace_id: workspaceId };
    if (to === null) await deleteRows(transaction, "person_groups", place);
    else await putRow(transaction, "person_groups", place, { group_id: to });
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

/** Moves a sign-in key between groups. null, as `from` or `to`, stands for the first group. */
async function moveKey(
  under: AuditedWrite,
  key: KeyRow | undefined,
  workspaceId: string,
  { from, to }: { readonly from: string | null; readonly to: string | null },
): Promise<void> {
  const { transaction } = under;
  if (key === undefined) return;
  const first = await firstGroupOf(transaction, workspaceId);
  if (key.group_id !== (from ?? first)) return;
  const object = keyObject(await slugOf(transaction, workspaceId));
  await updateRow(under, object, { before: key, after: { ...key, group_id: to ?? first } });
}
