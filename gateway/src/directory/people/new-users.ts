import type { ConsoleUser } from "@sluice/contract/console";
import { Failure, type Grant } from "#core/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { addManualRole, installation } from "../rights/right-rows.ts";
import { findRow, putRow, setColumns } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { upsertMember } from "./members.ts";
import { deleteResetLinks, endSessions, userRow, userView } from "./people-rows.ts";
import { requireUser } from "./users.ts";

export interface NewUser {
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  /** argon2id, as a PHC string; null: set later by a link, or never with single sign-on. */
  readonly passwordHash: string | null;
  readonly grants: readonly Grant[];
}

/** Throws `conflict` for an address that is in use. */
export async function createUser(context: Write, user: NewUser): Promise<ConsoleUser> {
  return await requireUser(context.transaction, await insertUser(context, user));
}

/** Ends the user's sessions and deletes their reset link. */
export async function setPassword(context: Write, userId: string, passwordHash: string): Promise<void> {
  const { email } = await userRow(context.transaction, userId);
  await putPassword(context, userId, passwordHash);
  await deleteResetLinks(context.transaction, userId);
  await endSessions(context.transaction, userId);
  context.log.note({ action: "reset-password", object: `user ${email}`, workspaceId: null });
}

/** Returns the id of the new user. Throws `conflict` for an address that is in use. */
export async function insertUser(context: Write, { email, name, passwordHash, grants }: NewUser): Promise<string> {
  const { transaction, log } = context;
  const userId = context.ids.next("usr_");
  const at = new Date(context.at).toISOString();
  const inserted = await transaction
    .insertInto("auth_users")
    .values({
      id: userId,
      name,
      email,
      email_verified: 0,
      created_at: at,
      updated_at: at,
      two_factor_enabled: 0,
      administrator: 0,
      disabled: 0,
    })
    .onConflict((conflict) => conflict.column("email").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) throw new Failure("conflict", `There is already a user ${email}.`, { param: "email" });
  if (passwordHash !== null) await putPassword(context, userId, passwordHash);
  log.record("create", `user ${email}`, null, userView(await userRow(transaction, userId)));
  for (const grant of grants) {
    if (grant.administrator) await makeAdministrator(context, userId);
    else await upsertMember(context, { workspaceId: grant.workspaceId, userId, role: grant.role, sessionToKeep: null });
  }
  return userId;
}

/** Writes the row from which the sign-in library reads the password. */
async function putPassword({ transaction, at, ids }: Write, userId: string, password: string): Promise<void> {
  const now = new Date(at).toISOString();
  const key = { issuer: "local:credential", account_id: userId };
  const created = { id: ids.next("acc_"), user_id: userId, provider_id: "credential", created_at: now };
  await putRow(transaction, "auth_accounts", key, { password, updated_at: now }, created);
}

/** Stores a one-time link to set a new password, in place of an earlier one. */
export async function createReset(
  { transaction, log }: Write,
  userId: string,
  digest: string,
  expiresAt: number,
): Promise<void> {
  const { email } = await userRow(transaction, userId);
  await putRow(transaction, "password_resets", { user_id: userId }, { digest, expires_at: expiresAt });
  log.record("create", `password reset ${email}`, null, { user_id: userId, email, expires_at: expiresAt });
}

/** Returns the user of a reset link and deletes it, so that it works once. null: it is not valid. */
export async function takeReset(
  { database, clock }: Directory,
  digest: string,
): Promise<{ readonly userId: string; readonly expiresAt: number } | null> {
  // One statement, so that only one of two concurrent calls gets the row.
  const row = await database.kysely
    .deleteFrom("password_resets")
    .where("digest", "=", digest)
    .returning(["user_id", "expires_at"])
    .executeTakeFirst();
  if (row === undefined || Number(row.expires_at) <= clock.now()) return null;
  return { userId: row.user_id, expiresAt: Number(row.expires_at) };
}

export async function administratorExists(connection: Connection): Promise<boolean> {
  return (await findRow(connection, "auth_users", { administrator: 1 })) !== undefined;
}

/** An existing user with this address gets the password and becomes the administrator. false: there is already an administrator. */
export async function makeFirstAdministrator(
  context: Write,
  user: Omit<NewUser, "grants" | "passwordHash"> & { readonly passwordHash: string },
): Promise<boolean> {
  const { transaction } = context;
  if (await administratorExists(transaction)) return false;
  const existing = await findRow(transaction, "auth_users", { email: user.email });
  if (existing !== undefined) await putPassword(context, existing.id, user.passwordHash);
  await makeAdministrator(context, existing?.id ?? (await insertUser(context, { ...user, grants: [] })));
  return true;
}

/** Ends the user's sessions, so that none gains the right. */
export async function makeAdministrator({ transaction, log }: AuditedWrite, userId: string): Promise<void> {
  const before = await userRow(transaction, userId);
  await addManualRole(transaction, { userId, workspaceId: installation, role: "administrator" });
  if (before.administrator === 1) return;
  await setColumns(transaction, "auth_users", { id: userId }, { administrator: 1 });
  await endSessions(transaction, userId);
  log.record("update", `user ${before.email}`, userView(before), userView({ ...before, administrator: 1 }));
}
