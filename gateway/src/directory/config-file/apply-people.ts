import type { ConfigFile, TokenConfig, UserConfig } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { declaredTokenName, Failure, type Grant } from "#core/index.ts";
import { type Connection, hashPassword, namedKeys, sameRow, updateRow } from "#storage/tables.ts";
import { endAgents } from "../agents/agent-persons.ts";
import { keyObject } from "../keys/key-rules.ts";
import { type DisabledKey, type FilePeople, readFilePeople, writeFilePeople } from "../people/file-people.ts";
import { mayHoldKeys } from "../people/key-owners.ts";
import { dropMember, putMember } from "../people/members.ts";
import { insertUser } from "../people/new-users.ts";
import { grantColumns, membershipsOf } from "../people/people-rows.ts";
import { limitPerson } from "../people/person-limits.ts";
import { insertToken, recordToken, removeToken } from "../people/tokens.ts";
import { changeUser } from "../people/users.ts";
import { applyOidc } from "../providers/oidc-writes.ts";
import { ConfigConflict } from "../refusals.ts";
import { forgetGiven } from "../rights/given-rows.ts";
import { findRow, not } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";

type People = Pick<ConfigFile, "users" | "tokens" | "oidc">;

/** Hashes by address, of the first passwords of those who are not there yet. Made before the write: each takes a while. */
export async function firstPasswords(
  { database }: ControlDirectory,
  users: readonly UserConfig[],
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>();
  for (const { email, password } of users) {
    if (password === undefined) continue;
    const known = await userIdOf(database.kysely, email);
    if (known === null) hashes.set(email.toLowerCase(), await hashPassword(password));
  }
  return hashes;
}

/**
 * Users, admin tokens and single sign-on become what the file says. What vanished is suspended: a user is disabled with their keys, a
 * token opens nothing, and an account of single sign-on signs in nobody. Declared again, each is as it was.
 */
export async function applyPeople(
  context: ControlWrite,
  people: People,
  passwords: ReadonlyMap<string, string>,
): Promise<void> {
  const { transaction } = context;
  const before = await readFilePeople(transaction);
  const { users, ...applied } = await applyUsers(context, people.users ?? [], before, passwords);
  const tokens = await applyTokens(context, people.tokens ?? [], before);
  const oidc = await applyOidc(context, people.oidc ?? [], before);
  const after: FilePeople = {
    users,
    tokens: tokens.ids,
    oidc: oidc.ids,
    suspended: { users: applied.suspended, tokens: tokens.suspended, oidc: oidc.suspended },
    disabledKeys: applied.disabledKeys,
  };
  if (JSON.stringify(after) !== JSON.stringify(before)) await writeFilePeople(transaction, after);
}

/** First who gains, then who loses: the last administrator may be replaced by another in one file. */
async function applyUsers(
  context: ControlWrite,
  users: readonly UserConfig[],
  before: FilePeople,
  passwords: ReadonlyMap<string, string>,
) {
  const { transaction } = context;
  const ids: string[] = [];
  const disabled = [...before.disabledKeys];
  for (const [index, user] of users.entries()) {
    const at = ["users", index];
    await toldAt(at, async () => {
      const email = user.email.toLowerCase();
      const name = user.name ?? (email.slice(0, email.indexOf("@")) || email);
      const passwordHash = passwords.get(email) ?? null;
      const id =
        (await userIdOf(transaction, email)) ?? (await insertUser(context, { email, name, passwordHash, grants: [] }));
      ids.push(id);
      if (before.suspended.users.includes(id)) context.log.record("resume", `user ${email}`, null, null);
      await forgetGiven(transaction, id);
      if (user.administrator === true) await changeUser(context, id, { administrator: true });
      if (user.enabled !== false) await changeUser(context, id, { disabled: false });
      for (const [place, { workspace, role, limits = {}, budget = null }] of (user.workspaces ?? []).entries()) {
        const workspaceId = await workspaceIdOf(context, workspace, [...at, "workspaces", place, "workspace"]);
        await putMember(context, { workspaceId, userId: id, role, keptSession: null });
        await limitPerson(context, workspaceId, id, { limits, budget });
      }
    });
  }
  for (const [index, user] of users.entries()) {
    const id = ids[index] ?? "";
    await toldAt(["users", index], async () => {
      const held = new Set((user.workspaces ?? []).map(({ workspace }) => workspace));
      disabled.push(...(await disabledBy(transaction, id, () => leaveOthers(context, id, held))));
      const change = { administrator: user.administrator === true, disabled: user.enabled === false };
      await changeUser(context, id, { ...change, keys: "disable" });
      await endAgents(context, { userId: id });
    });
  }
  for (const id of before.users.filter((each) => !ids.includes(each))) {
    await toldAt(["users"], async () => {
      const email = await emailOf(transaction, id);
      if (email === null) return;
      context.log.record("suspend", `user ${email}`, null, null);
      const suspend = () => changeUser(context, id, { disabled: true, keys: "disable" });
      disabled.push(...(await disabledBy(transaction, id, suspend)));
    });
  }
  const suspended: string[] = [];
  for (const id of new Set([...before.users, ...before.suspended.users])) {
    if (!ids.includes(id) && (await emailOf(transaction, id)) !== null) suspended.push(id);
  }
  return {
    users: ids.toSorted(),
    suspended: suspended.toSorted(),
    disabledKeys: await enableKeys(context, ids, disabled),
  };
}

/** The keys that `act` disabled for their maker or owner. */
async function disabledBy(
  transaction: Connection,
  userId: string,
  act: () => Promise<unknown>,
): Promise<readonly DisabledKey[]> {
  const enabled = async () =>
    await transaction
      .selectFrom("api_keys")
      .select(["id", "set_by_admins"])
      .where((eb) => eb.or([eb("created_by", "=", userId), eb("owner_id", "=", userId)]))
      .where("enabled", "=", 1)
      .execute();
  const before = await enabled();
  await act();
  const left = new Set((await enabled()).map(({ id }) => id));
  return before.flatMap(({ id, set_by_admins }) => (left.has(id) ? [] : [{ id, userId, setByAdmins: set_by_admins }]));
}

/** Keys come back with their declared users, where these hold keys again. Gives those that are still to come back. */
async function enableKeys(
  context: ControlWrite,
  declared: readonly string[],
  disabled: readonly DisabledKey[],
): Promise<readonly DisabledKey[]> {
  const { transaction } = context;
  const waiting: DisabledKey[] = [];
  for (const key of disabled) {
    const named = await namedKeys(transaction).where("api_keys.id", "=", key.id).executeTakeFirst();
    if (named === undefined || named.enabled === 1 || named.revoked_at !== null) continue;
    const { workspace_slug, group_name: _group, ...before } = named;
    if (declared.includes(key.userId) && (await mayHoldKeys(transaction, before.workspace_id, key.userId))) {
      const object = keyObject(workspace_slug);
      const after = { ...before, enabled: 1, set_by_admins: key.setByAdmins };
      await updateRow(context, object, { before, after });
    } else waiting.push(key);
  }
  return waiting;
}

async function leaveOthers(context: ControlWrite, userId: string, kept: ReadonlySet<string>): Promise<void> {
  for (const { id, slug, managed_by } of await membershipsOf(context.transaction, [userId])) {
    // What they hold in a suspended workspace comes back with it.
    if (managed_by === "suspended" || kept.has(slug)) continue;
    await dropMember(context, { workspaceId: id, userId, keys: "disable" });
  }
}

/**
 * A token is another one when its secret, its owner or what it is for is another. One whose name or secret the file gives to another
 * is revoked; others that vanished are suspended.
 */
async function applyTokens(context: ControlWrite, tokens: readonly TokenConfig[], before: FilePeople) {
  const { transaction, vault } = context;
  const known = [...before.tokens, ...before.suspended.tokens];
  const names = new Set(tokens.map(({ name }) => name));
  const digests = new Set<string>();
  const wanted: { readonly id: string; readonly make: (() => Promise<string>) | null }[] = [];
  for (const [index, token] of tokens.entries()) {
    const at = ["tokens", index];
    const { name, secret, secret_sha256, scim = false } = token;
    const ownerId = await userIdOf(transaction, token.owner);
    if (ownerId === null) refuse([...at, "owner"], `there is no user "${token.owner}"`);
    const grant = await tokenGrant(context, token, at);
    const digest = vault.digest(secret ?? declaredTokenName(secret_sha256 ?? ""));
    digests.add(digest);
    const expiresAt = token.expires_at === undefined ? null : Date.parse(token.expires_at);
    const row = await findRow(transaction, "admin_tokens", { digest });
    if (row !== undefined && !known.includes(row.id)) {
      refuse([...at, secret === undefined ? "secret_sha256" : "secret"], "another admin token has this secret");
    }
    const columns = { name, owner_id: ownerId, scope: scim ? "scim" : null, expires_at: expiresAt };
    const prefix = secret?.slice(0, secret.lastIndexOf("-") + shownLetters) ?? `sha256:${secret_sha256?.slice(0, 8)}`;
    const make = () => insertToken(context, { name, grant, ownerId, digest, prefix, expiresAt, scim });
    const isSame = row !== undefined && sameRow(row, { ...columns, ...grantColumns(grant) });
    wanted.push(isSame ? { id: row.id, make: null } : { id: "", make });
  }
  const kept = new Set(wanted.map(({ id }) => id));
  const suspended: string[] = [];
  // What is replaced gives its secret free first.
  for (const id of known) {
    const row = await findRow(transaction, "admin_tokens", { id });
    if (row === undefined) continue;
    if (kept.has(id)) {
      if (before.suspended.tokens.includes(id)) await recordToken(context, "resume", id);
    } else if (names.has(row.name) || digests.has(row.digest)) await removeToken(context, id);
    else {
      suspended.push(id);
      if (before.tokens.includes(id)) await recordToken(context, "suspend", id);
    }
  }
  const ids: string[] = [];
  for (const [index, { id, make }] of wanted.entries()) {
    await toldAt(["tokens", index], async () => void ids.push(make === null ? id : await make()));
  }
  return { ids: ids.toSorted(), suspended: suspended.toSorted() };
}

/** Behind `sluice-admin-` or `sluice-scim-`: the dash, and four characters to tell it by. */
const shownLetters = 5;

async function tokenGrant(context: ControlWrite, token: TokenConfig, at: Conflict["path"]): Promise<Grant> {
  if (token.administrator === true || token.scim === true || token.workspace === undefined)
    return { administrator: true };
  const workspaceId = await workspaceIdOf(context, token.workspace, [...at, "workspace"]);
  return { administrator: false, workspaceId, role: token.role ?? "viewer" };
}

async function workspaceIdOf({ transaction }: ControlWrite, slug: string, path: Conflict["path"]): Promise<string> {
  const row = await findRow(transaction, "workspaces", { slug, managed_by: not("suspended") });
  return row?.id ?? refuse(path, `there is no workspace "${slug}"`);
}

async function userIdOf(connection: Connection, email: string): Promise<string | null> {
  const row = await findRow(connection, "auth_users", { email: email.toLowerCase() });
  return row?.id ?? null;
}

async function emailOf(connection: Connection, id: string): Promise<string | null> {
  const row = await findRow(connection, "auth_users", { id });
  return row?.email ?? null;
}

function refuse(path: Conflict["path"], message: string): never {
  throw new ConfigConflict([{ path, message }]);
}

/** A refusal of what people may not do either, such as to leave nobody who governs, names the place in the file. */
async function toldAt(path: Conflict["path"], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    refuse(path, thrown.message);
  }
}
