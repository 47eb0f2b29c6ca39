import type { AdminToken } from "@sluice/contract/console";
import { type Actor, bounds, columnsOf, Failure, type Grant, leastOf, type Rights } from "#core/index.ts";
import type { Paged } from "#ports/index.ts";
import {
  type AuditedWrite,
  type Connection,
  cursorOf,
  cutPage,
  type Database,
  isAfter,
  parseCursor,
  relaxedWrite,
} from "#storage/tables.ts";
import { countRows, deleteRows, findRow, findRows } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { readFilePeople, refuseFilePeople } from "./file-people.ts";
import { grantColumns, grantOf, grantPlace, userRow } from "./people-rows.ts";

interface NewToken {
  readonly name: string;
  readonly grant: Grant;
  readonly ownerId: string;
  readonly digest: string;
  readonly prefix: string;
  readonly expiresAt: number | null;
  /** The token that creates this one. Revoking it revokes this one too. */
  readonly madeWith?: string;
  /** Only valid for SCIM. The grant must be for an administrator. */
  readonly scim?: boolean;
}

/** The current rights of a user; null for a user who does not exist or is disabled. */
export async function rightsOf(connection: Connection, userId: string): Promise<Rights | null> {
  const user = await findRow(connection, "auth_users", { id: userId, disabled: 0 });
  if (user === undefined) return null;
  const rows = await findRows(connection, "members", { user_id: userId });
  return { administrator: user.administrator === 1, roles: new Map(rows.map((row) => [row.workspace_id, row.role])) };
}

/** The caller of a token, with at most its owner's current rights; null: the token is not valid. */
export async function tokenActor({ database, clock }: Directory, digest: string): Promise<Actor | null> {
  const now = clock.now();
  const row = await validToken(database.kysely, digest, now);
  if (row === null || row.scope !== null) return null;
  const owner = await rightsOf(database.kysely, row.owner_id);
  if (owner === null) return null;
  const rights = leastOf(grantOf(row), owner);
  if (!rights.administrator && rights.roles.size === 0) return null;
  await recordUse(database, row.id, row.last_used_at, now);
  const name = `${row.email} (token ${row.name})`;
  return { kind: "token", userId: row.owner_id, tokenId: row.id, name, fresh: true, ...rights };
}

/** The caller of a SCIM token; null: it is not valid, or its owner is not an administrator. */
export async function scimCaller(
  { database, clock }: Directory,
  digest: string,
): Promise<{ readonly tokenId: string; readonly name: string } | null> {
  const now = clock.now();
  const row = await validToken(database.kysely, digest, now);
  if (row === null || row.scope !== "scim") return null;
  if ((await rightsOf(database.kysely, row.owner_id))?.administrator !== true) return null;
  await recordUse(database, row.id, row.last_used_at, now);
  return { tokenId: row.id, name: `SCIM (token ${row.name})` };
}

async function validToken(connection: Connection, digest: string, now: number): Promise<TokenRow | null> {
  const row = await tokenRows(connection).where("admin_tokens.digest", "=", digest).executeTakeFirst();
  if (row === undefined || (row.expires_at !== null && Number(row.expires_at) <= now)) return null;
  return (await readFilePeople(connection)).suspended.tokens.includes(row.id) ? null : row;
}

/** Newest first. `ownerId` null: the tokens of all users. */
export async function listTokens(
  { database }: Directory,
  ownerId: string | null,
  cursor: string | null,
  limit: number,
): Promise<Paged<AdminToken>> {
  let query = tokenRows(database.kysely)
    .orderBy("admin_tokens.created_at", "desc")
    .orderBy("admin_tokens.id", "desc")
    .limit(limit + 1);
  if (ownerId !== null) query = query.where("admin_tokens.owner_id", "=", ownerId);
  if (cursor !== null) {
    query = query.where(isAfter(["admin_tokens.created_at", "admin_tokens.id"], parseCursor(cursor)));
  }
  const rows = await query.execute();
  const { page, next } = cutPage(rows, limit, (last) => cursorOf({ at: Number(last.created_at), id: last.id }));
  const { suspended } = await readFilePeople(database.kysely);
  return { data: page.map((row) => tokenOf(row, suspended.tokens)), next };
}

/** Tokens that expire after `after` and until `until` (Unix milliseconds), the next first. `ownerId` null: every user. */
export async function expiringAdminTokens(
  { database }: Directory,
  ownerId: string | null,
  after: number,
  until: number,
  limit: number,
) {
  let query = tokenRows(database.kysely)
    .where("admin_tokens.expires_at", ">", after)
    .where("admin_tokens.expires_at", "<=", until)
    .orderBy("admin_tokens.expires_at")
    .orderBy("admin_tokens.id")
    .limit(limit);
  if (ownerId !== null) query = query.where("admin_tokens.owner_id", "=", ownerId);
  return (await query.execute()).map((row) => {
    const { id, name, workspace } = tokenOf(row, []);
    return { id, name, workspace, expiresAt: Number(row.expires_at) };
  });
}

export async function oneToken(connection: Connection, id: string): Promise<AdminToken | null> {
  const row = await tokenRows(connection).where("admin_tokens.id", "=", id).executeTakeFirst();
  return row === undefined ? null : tokenOf(row, (await readFilePeople(connection)).suspended.tokens);
}

export async function createToken(context: Write, token: NewToken): Promise<AdminToken> {
  const id = await insertToken(context, token);
  return tokenOf(await tokenRows(context.transaction).where("admin_tokens.id", "=", id).executeTakeFirstOrThrow(), []);
}

/** Returns the id of the token. */
export async function insertToken({ transaction, log, at, ids }: Write, token: NewToken): Promise<string> {
  const owner = await userRow(transaction, token.ownerId);
  const place = await grantPlace(transaction, token.grant);
  const count = await countRows(transaction.selectFrom("admin_tokens").where("owner_id", "=", token.ownerId));
  if (count >= bounds.tokensPerUserMax) {
    throw new Failure("conflict", `${owner.email} has ${count} admin tokens, which is the maximum. Revoke some first.`);
  }
  const { grant, madeWith = null, scim = false, ...fields } = token;
  const row = {
    ...{ id: ids.next("adt_"), ...columnsOf(fields), ...grantColumns(grant), made_with: madeWith },
    scope: scim ? ("scim" as const) : null,
    created_at: at,
    last_used_at: null,
  };
  await transaction.insertInto("admin_tokens").values(row).execute();
  log.record("create", `admin token ${place}/${token.name}`, null, tokenView(row), row.workspace_id);
  return row.id;
}

/** Also revokes the tokens that were created with it. */
export async function revokeToken(context: Write, id: string): Promise<void> {
  const row = await oneToken(context.transaction, id);
  if (row !== null) await refuseFilePeople(context.transaction, "tokens", id, `admin token ${row.name}`);
  await removeToken(context, id);
}

/** Writes to the audit log that the config file suspends or resumes a token. */
export async function recordToken(
  { transaction, log }: AuditedWrite,
  action: "suspend" | "resume",
  id: string,
): Promise<void> {
  const row = await tokenRows(transaction).where("admin_tokens.id", "=", id).executeTakeFirst();
  if (row === undefined) return;
  log.record(action, tokenLabel(row), tokenView(row), tokenView(row), row.workspace_id);
}

export async function removeToken({ transaction, log }: AuditedWrite, id: string): Promise<void> {
  const row = await tokenRows(transaction).where("admin_tokens.id", "=", id).executeTakeFirst();
  if (row === undefined) return;
  await deleteRows(transaction, "admin_tokens", { id });
  log.record("revoke", tokenLabel(row), tokenView(row), null, row.workspace_id);
}

function tokenLabel(row: Pick<TokenRow, "slug" | "name">) {
  return `admin token ${row.slug ?? "installation"}/${row.name}` as const;
}

function tokenRows(connection: Connection) {
  return connection
    .selectFrom("admin_tokens")
    .innerJoin("auth_users", "auth_users.id", "admin_tokens.owner_id")
    .leftJoin("workspaces", "workspaces.id", "admin_tokens.workspace_id")
    .selectAll("admin_tokens")
    .select(["auth_users.email", "auth_users.name as owner_name", "workspaces.slug"]);
}

type TokenRow = Awaited<ReturnType<ReturnType<typeof tokenRows>["executeTakeFirstOrThrow"]>>;

function tokenOf(row: TokenRow, suspended: readonly string[]): AdminToken {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    administrator: row.administrator === 1 && row.scope === null,
    scim: row.scope === "scim",
    suspended: suspended.includes(row.id),
    workspace: row.workspace_id === null ? null : { id: row.workspace_id, slug: row.slug ?? "" },
    role: row.role,
    owner: { id: row.owner_id, email: row.email, name: row.owner_name },
    created_at: row.created_at,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at,
  };
}

function tokenView(
  row: Pick<TokenRow, "id" | "name" | "prefix" | "administrator" | "role" | "scope" | "owner_id" | "expires_at">,
) {
  const { id, name, prefix, scope, role, owner_id, expires_at } = row;
  const administrator = row.administrator === 1 && scope === null;
  return { id, name, prefix, administrator, ...(scope === null ? {} : { scope }), role, owner_id, expires_at };
}

/** Writes at most once per `tokenTouchMs`, since a script may call often. */
async function recordUse(database: Database, id: string, lastUsedAt: number | null, now: number): Promise<void> {
  if (lastUsedAt !== null && now - Number(lastUsedAt) < bounds.tokenTouchMs) return;
  await relaxedWrite(database, (connection) =>
    connection.updateTable("admin_tokens").set({ last_used_at: now }).where("id", "=", id).execute(),
  );
}
