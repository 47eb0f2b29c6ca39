import { type ApiKey, Failure, personDigest, sessionDigest } from "#core/index.ts";
import type { AgentPerson, Ids } from "#ports/index.ts";
import {
  type AuditedWrite,
  type CallerKeyRow,
  type Connection,
  callerKeys,
  everyBound,
  insertRows,
  type KeyRow,
  keyOf,
  newColumns,
  updateRow,
} from "#storage/tables.ts";
import { keyObject } from "../keys/key-object.ts";
import { keyCalled, nameOfRevoked, refuseTooManyKeys } from "../keys/key-rules.ts";
import { mayHoldKeys } from "../people/people-keys.ts";
import { slugOf, type UserRow, userRow } from "../people/people-rows.ts";
import { groupOfNewKey, signInKey } from "./agent-groups.ts";

/** The key that somebody's sign-ins call with, by `personDigest` or `sessionDigest`; null unless they may call there now. */
export async function personKey(connection: Connection, digest: string): Promise<ApiKey | null> {
  const row = await personRow(connection, digest);
  if (row === null || row.person_id === null || row.revoked_at !== null) return null;
  return (await mayHoldKeys(connection, row.workspace_id, row.person_id)) ? keyOf(row) : null;
}

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

/** As whom a key's sign-ins call; null: they may not now. */
export async function personOfKey(connection: Connection, keyId: string): Promise<AgentPerson | null> {
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
  const object = keyObject(new Map([[workspaceId, await slugOf(transaction, workspaceId)]]));
  const id = ids.next("key_");
  const row: KeyRow = {
    id,
    workspace_id: workspaceId,
    group_id: await groupOfNewKey(transaction, workspaceId, user.id),
    name: await freeName(under, workspaceId, user.email, id),
    digest: personDigest(id),
    // Logs tell it by its id, as they tell other keys by the beginning of their secret.
    prefix: id,
    last_four: "",
    ...newColumns({}),
    revoked_at: null,
    managed_by: "console",
    created_at: at,
    created_by: null,
    set_by_admins: everyBound,
    old_digest: null,
    old_until: null,
    person_id: user.id,
    owner_id: null,
  };
  await insertRows(under, object, [row]);
  await refuseTooManyKeys(transaction, workspaceId);
  return row;
}

/** The address of its person; with the id of the key where a key of that name is in use. */
async function freeName(under: AuditedWrite, workspaceId: string, email: string, id: string): Promise<string> {
  const taken = await keyCalled(under.transaction, workspaceId, email);
  if (taken === null) return email;
  if (taken.revoked_at === null || taken.managed_by === "file") return `${email} (${id})`;
  const object = keyObject(new Map([[workspaceId, await slugOf(under.transaction, workspaceId)]]));
  await updateRow(under, object, {
    before: taken,
    after: { ...taken, name: await nameOfRevoked(under.transaction, taken) },
  });
  return email;
}
