import type { ConfigFile, TokenConfig, UserConfig } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { declaredTokenName, Failure, type Grant, nameFromEmail } from "#core/index.ts";
import { type Connection, hashPassword, namedKeys, sameRow, updateRow } from "#storage/tables.ts";
import { budgetProblems } from "../budgets/fallback-models.ts";
import { keyObject } from "../keys/key-rules.ts";
import { type DisabledKey, type FilePeople, readFilePeople, writeFilePeople } from "../people/file-people.ts";
import { canManageKeys } from "../people/key-owners.ts";
import { endLostAccess } from "../people/lost-access.ts";
import { deleteMember, upsertMember } from "../people/members.ts";
import { insertUser } from "../people/new-users.ts";
import { grantColumns, membershipsOf } from "../people/people-rows.ts";
import { setPersonLimits } from "../people/person-limits.ts";
import { insertToken, recordToken, removeToken } from "../people/tokens.ts";
import { changeUser } from "../people/users.ts";
import { applyOidc } from "../providers/oidc-accounts.ts";
import { ConfigConflict, conflictsAt, refuseConflicts } from "../refusals.ts";
import { deleteRightRows } from "../rights/right-rows.ts";
import { findRow, not } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";

type People = Pick<ConfigFile, "users" | "tokens" | "oidc">;

/** Password hashes of new users, by address. Hash before the transaction, since hashing is slow. */
export async function firstPasswords(
  { database }: ControlDirectory,
  users: readonly UserConfig[],
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>();
  for (const { email, password } of users) {
    if (password === undefined) continue;
    const id = await userIdOf(database.kysely, email);
    if (id === null) hashes.set(email.toLowerCase(), await hashPassword(password));
  }
  return hashes;
}

/**
 * Applies the users, admin tokens and single sign-on of the file. Objects that it no longer declares are suspended: users are disabled
 * with their keys, tokens are not valid, accounts allow no sign-in. If the file declares them again, they are restored.
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

/** Rights are added before others are removed, so that one file can replace the last administrator. */
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
    const path = ["users", index];
    await atPath(path, async () => {
      const email = user.email.toLowerCase();
      const name = user.name ?? nameFromEmail(email);
      const passwordHash = passwords.get(email) ?? null;
      const id =
        (await userIdOf(transaction, email)) ?? (await insertUser(context, { email, name, passwordHash, grants: [] }));
      ids.push(id);
      if (before.suspended.users.includes(id)) context.log.record("resume", `user ${email}`, null, null);
      await deleteRightRows(transaction, id);
      if (user.administrator === true) await changeUser(context, id, { administrator: true });
      if (user.enabled !== false) await changeUser(context, id, { disabled: false });
      for (const [position, { workspace, role, limits = {}, budget = null }] of (user.workspaces ?? []).entries()) {
        const workspaceId = await workspaceIdOf(context, workspace, [...path, "workspaces", position, "workspace"]);
        await upsertMember(context, { workspaceId, userId: id, role, sessionToKeep: null });
        const place = [...path, "workspaces", position];
        refuseConflicts(conflictsAt(place, await budgetProblems(transaction, budget)));
        await setPersonLimits(context, workspaceId, id, { limits, budget });
      }
    });
  }
  for (const [index, user] of users.entries()) {
    const id = ids[index] ?? "";
    await atPath(["users", index], async () => {
      const slugs = new Set((user.workspaces ?? []).map(({ workspace }) => workspace));
      disabled.push(...(await keysDisabledBy(transaction, id, () => leaveOtherWorkspaces(context, id, slugs))));
      const change = { administrator: user.administrator === true, disabled: user.enabled === false };
      await changeUser(context, id, { ...change, keys: "disable" });
      await endLostAccess(context, { userId: id });
    });
  }
  for (const id of before.users.filter((each) => !ids.includes(each))) {
    await atPath(["users"], async () => {
      const email = await emailOf(transaction, id);
      if (email === null) return;
      context.log.record("suspend", `user ${email}`, null, null);
      const suspend = () => changeUser(context, id, { disabled: true, keys: "disable" });
      disabled.push(...(await keysDisabledBy(transaction, id, suspend)));
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

/** Runs `change`. Returns the keys of the user that it disabled. */
async function keysDisabledBy(
  transaction: Connection,
  userId: string,
  change: () => Promise<unknown>,
): Promise<readonly DisabledKey[]> {
  const enabled = async () =>
    await transaction
      .selectFrom("api_keys")
      .select(["id", "set_by_admins"])
      .where((eb) => eb.or([eb("created_by", "=", userId), eb("owner_id", "=", userId)]))
      .where("enabled", "=", 1)
      .execute();
  const before = await enabled();
  await change();
  const after = new Set((await enabled()).map(({ id }) => id));
  return before.flatMap(({ id, set_by_admins }) => (after.has(id) ? [] : [{ id, userId, setByAdmins: set_by_admins }]));
}

/** Enables keys of declared users who can manage keys again. Returns the keys that stay disabled. */
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
    if (declared.includes(key.userId) && (await canManageKeys(transaction, before.workspace_id, key.userId))) {
      const object = keyObject(workspace_slug);
      const after = { ...before, enabled: 1, set_by_admins: key.setByAdmins };
      await updateRow(context, object, { before, after });
    } else waiting.push(key);
  }
  return waiting;
}

/** `declared`: slugs. */
async function leaveOtherWorkspaces(
  context: ControlWrite,
  userId: string,
  declared: ReadonlySet<string>,
): Promise<void> {
  for (const { id, slug, managed_by } of await membershipsOf(context.transaction, [userId])) {
    // A membership in a suspended workspace is restored with the workspace.
    if (managed_by === "suspended" || declared.has(slug)) continue;
    await deleteMember(context, { workspaceId: id, userId, keys: "disable" });
  }
}

/**
 * A changed secret, owner or grant creates a new token. Tokens that the file no longer declares are suspended, or revoked if another
 * token now has their name or secret.
 */
async function applyTokens(context: ControlWrite, tokens: readonly TokenConfig[], before: FilePeople) {
  const { transaction, vault } = context;
  const previousIds = [...before.tokens, ...before.suspended.tokens];
  const names = new Set(tokens.map(({ name }) => name));
  const digests = new Set<string>();
  const wanted: { readonly id: string; readonly create: (() => Promise<string>) | null }[] = [];
  for (const [index, token] of tokens.entries()) {
    const path = ["tokens", index];
    const { name, secret, secret_sha256, scim = false } = token;
    const ownerId = await userIdOf(transaction, token.owner);
    if (ownerId === null) refuse([...path, "owner"], `there is no user "${token.owner}"`);
    const grant = await tokenGrant(context, token, path);
    const digest = vault.digest(secret ?? declaredTokenName(secret_sha256 ?? ""));
    digests.add(digest);
    const expiresAt = token.expires_at === undefined ? null : Date.parse(token.expires_at);
    const row = await findRow(transaction, "admin_tokens", { digest });
    if (row !== undefined && !previousIds.includes(row.id)) {
      refuse([...path, secret === undefined ? "secret_sha256" : "secret"], "another admin token has this secret");
    }
    const columns = { name, owner_id: ownerId, scope: scim ? "scim" : null, expires_at: expiresAt };
    const prefix =
      secret?.slice(0, secret.lastIndexOf("-") + shownCharacters) ?? `sha256:${secret_sha256?.slice(0, 8)}`;
    const create = () => insertToken(context, { name, grant, ownerId, digest, prefix, expiresAt, scim });
    const isSame = row !== undefined && sameRow(row, { ...columns, ...grantColumns(grant) });
    wanted.push(isSame ? { id: row.id, create: null } : { id: "", create });
  }
  const unchanged = new Set(wanted.map(({ id }) => id));
  const suspended: string[] = [];
  // Secrets are unique, so replaced tokens are deleted before the new ones are inserted.
  for (const id of previousIds) {
    const row = await findRow(transaction, "admin_tokens", { id });
    if (row === undefined) continue;
    if (unchanged.has(id)) {
      if (before.suspended.tokens.includes(id)) await recordToken(context, "resume", id);
    } else if (names.has(row.name) || digests.has(row.digest)) await removeToken(context, id);
    else {
      suspended.push(id);
      if (before.tokens.includes(id)) await recordToken(context, "suspend", id);
    }
  }
  const ids: string[] = [];
  for (const [index, { id, create }] of wanted.entries()) {
    await atPath(["tokens", index], async () => void ids.push(create === null ? id : await create()));
  }
  return { ids: ids.toSorted(), suspended: suspended.toSorted() };
}

/** The dash at the end of `sluice-admin-` or `sluice-scim-`, and four more characters. */
const shownCharacters = 5;

async function tokenGrant(context: ControlWrite, token: TokenConfig, path: Conflict["path"]): Promise<Grant> {
  if (token.administrator === true || token.scim === true || token.workspace === undefined)
    return { administrator: true };
  const workspaceId = await workspaceIdOf(context, token.workspace, [...path, "workspace"]);
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

/** Adds the path in the file to a failure, such as the removal of the last administrator. */
async function atPath(path: Conflict["path"], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    refuse(path, thrown.message);
  }
}
