import type { ConfigFile, TokenConfig, UserConfig } from "@sluice/contract/config-file";
import type { Conflict, WorkspaceRole } from "@sluice/contract/words";
import { declaredTokenName, Failure, type Grant } from "#core/index.ts";
import { type Connection, hashPassword, namedKeys, peopleLock, updateRow } from "#storage/tables.ts";
import { endAgents } from "../agents/agent-persons.ts";
import type { ApplyContext, ControlOptions } from "../control-options.ts";
import { keyObject } from "../keys/key-rules.ts";
import { type DisabledKey, type FilePeople, readFilePeople, writeFilePeople } from "../people/file-people.ts";
import { mayHoldKeys } from "../people/key-owners.ts";
import { dropMember, putMember } from "../people/members.ts";
import { limitPerson } from "../people/person-limits.ts";
import { insertToken, recordToken, removeToken } from "../people/tokens.ts";
import { insertUser } from "../people/user-creation.ts";
import { changeUser } from "../people/users.ts";
import { applyOidc } from "../providers/oidc-writes.ts";
import { refuseConflicts } from "../refusals.ts";
import { forgetGiven } from "../rights/given-rows.ts";

type People = Pick<ConfigFile, "users" | "tokens" | "oidc">;

/** Hashes by address, of the first passwords of those who are not there yet. Made before the write: each takes a while. */
export async function firstPasswords(
  { database }: ControlOptions,
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
  context: ApplyContext,
  people: People,
  passwords: ReadonlyMap<string, string>,
): Promise<void> {
  const { transaction } = context;
  const before = await readFilePeople(transaction);
  const declared = people.users ?? [];
  if (declared.length + (people.tokens ?? []).length + (people.oidc ?? []).length + sizeOf(before) === 0) return;
  await transaction.updateTable("settings").set({ value: "" }).where("name", "=", peopleLock).execute();
  const applied = await applyUsers(context, declared, before, passwords);
  const tokens = await applyTokens(context, people.tokens ?? [], before);
  const oidc = await applyOidc(context, people.oidc ?? [], before);
  const after: FilePeople = {
    users: applied.users,
    tokens: tokens.ids,
    oidc: oidc.ids,
    suspended: { users: applied.suspended, tokens: tokens.suspended, oidc: oidc.suspended },
    disabledKeys: applied.disabledKeys,
  };
  if (JSON.stringify(after) !== JSON.stringify(before)) await writeFilePeople(transaction, after);
}

function sizeOf({ users, tokens, oidc, suspended }: FilePeople): number {
  return [users, tokens, oidc, suspended.users, suspended.tokens, suspended.oidc].reduce(
    (sum, ids) => sum + ids.length,
    0,
  );
}

interface AppliedUsers extends Pick<FilePeople, "users" | "disabledKeys"> {
  /** Of those who are still there. */
  readonly suspended: readonly string[];
}

/** First who gains, then who loses: the last administrator may be replaced by another in one file. */
async function applyUsers(
  context: ApplyContext,
  users: readonly UserConfig[],
  before: FilePeople,
  passwords: ReadonlyMap<string, string>,
): Promise<AppliedUsers> {
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
        (await userIdOf(transaction, email)) ??
        (await insertUser(context, context, { email, name, passwordHash, grants: [] }));
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
  context: ApplyContext,
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

async function leaveOthers(context: ApplyContext, userId: string, kept: ReadonlySet<string>): Promise<void> {
  const held = await context.transaction
    .selectFrom("members")
    .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
    .select(["workspaces.id", "workspaces.slug"])
    .where("members.user_id", "=", userId)
    // What they hold in a suspended workspace comes back with it.
    .where("workspaces.managed_by", "!=", "suspended")
    .execute();
  for (const { id, slug } of held) {
    if (!kept.has(slug)) await dropMember(context, { workspaceId: id, userId, keys: "disable" });
  }
}

interface AppliedIds {
  readonly ids: readonly string[];
  readonly suspended: readonly string[];
}

/**
 * A token is another one when its secret, its owner or what it is for is another. One whose name or secret the file gives to another
 * is revoked; others that vanished are suspended.
 */
async function applyTokens(
  context: ApplyContext,
  tokens: readonly TokenConfig[],
  before: FilePeople,
): Promise<AppliedIds> {
  const { transaction, vault } = context;
  const known = [...before.tokens, ...before.suspended.tokens];
  const names = new Set(tokens.map(({ name }) => name));
  const digests = new Set<string>();
  const wanted: { readonly id: string; readonly make: (() => Promise<string>) | null }[] = [];
  for (const [index, token] of tokens.entries()) {
    const at = ["tokens", index];
    const ownerId = await userIdOf(transaction, token.owner);
    if (ownerId === null) refuse([...at, "owner"], `there is no user "${token.owner}"`);
    const grant = await grantOf(context, token, at);
    const digest = vault.digest(token.secret ?? declaredTokenName(token.secret_sha256 ?? ""));
    digests.add(digest);
    const expiresAt = token.expires_at === undefined ? null : Date.parse(token.expires_at);
    const row = await transaction
      .selectFrom("admin_tokens")
      .selectAll()
      .where("digest", "=", digest)
      .executeTakeFirst();
    if (row !== undefined && !known.includes(row.id)) {
      refuse([...at, token.secret === undefined ? "secret_sha256" : "secret"], "another admin token has this secret");
    }
    const same =
      row !== undefined &&
      row.name === token.name &&
      row.owner_id === ownerId &&
      row.scope === (token.scim === true ? "scim" : null) &&
      (row.expires_at === null ? null : Number(row.expires_at)) === expiresAt &&
      (grant.administrator
        ? row.administrator === 1
        : row.workspace_id === grant.workspaceId && row.role === grant.role);
    const prefix =
      token.secret?.slice(0, token.secret.lastIndexOf("-") + shownLetters) ??
      `sha256:${token.secret_sha256?.slice(0, 8)}`;
    const made = {
      name: token.name,
      grant,
      ownerId: ownerId ?? "",
      digest,
      prefix,
      expiresAt,
      scim: token.scim === true,
    };
    wanted.push(same ? { id: row.id, make: null } : { id: "", make: () => insertToken(context, context, made) });
  }
  const kept = new Set(wanted.map(({ id }) => id));
  const suspended: string[] = [];
  // What is replaced gives its secret free first.
  for (const id of known) {
    const row = await transaction.selectFrom("admin_tokens").selectAll().where("id", "=", id).executeTakeFirst();
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

async function grantOf(context: ApplyContext, token: TokenConfig, at: Conflict["path"]): Promise<Grant> {
  if (token.administrator === true || token.scim === true || token.workspace === undefined)
    return { administrator: true };
  const workspaceId = await workspaceIdOf(context, token.workspace, [...at, "workspace"]);
  const role: WorkspaceRole = token.role ?? "viewer";
  return { administrator: false, workspaceId, role };
}

async function workspaceIdOf({ transaction }: ApplyContext, slug: string, path: Conflict["path"]): Promise<string> {
  const row = await transaction
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", slug)
    .where("managed_by", "!=", "suspended")
    .executeTakeFirst();
  if (row === undefined) refuse(path, `there is no workspace "${slug}"`);
  return row?.id ?? "";
}

async function userIdOf(connection: Connection, email: string): Promise<string | null> {
  const row = await connection
    .selectFrom("auth_users")
    .select("id")
    .where("email", "=", email.toLowerCase())
    .executeTakeFirst();
  return row?.id ?? null;
}

async function emailOf(connection: Connection, id: string): Promise<string | null> {
  const row = await connection.selectFrom("auth_users").select("email").where("id", "=", id).executeTakeFirst();
  return row?.email ?? null;
}

function refuse(path: Conflict["path"], message: string): void {
  refuseConflicts([{ path, message }]);
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
