import type { ConsoleUser } from "@sluice/contract/console";
import { Failure, type Grant } from "#core/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { addByHand, installation } from "../rights/given-rows.ts";
import { findRow, putRow, setColumns } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { putMember } from "./members.ts";
import { dropResets, endSessions, userRow, userView } from "./people-rows.ts";
import { shownUser } from "./users.ts";

/** Somebody who is made without an invitation. */
interface NewUser {
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  /** argon2id, as a PHC string; null: they set one by a link, or sign in by an issuer. */
  readonly passwordHash: string | null;
  readonly grants: readonly Grant[];
}

/** A user with all they hold, or nothing at all. Throws `conflict` for an address that somebody has. */
export async function createUser(under: Write, user: NewUser): Promise<ConsoleUser> {
  return await shownUser(under.transaction, await insertUser(under, user));
}

/** Without the old one. Ends the sessions of the user and their link to a new password. */
export async function setPassword(under: Write, userId: string, passwordHash: string): Promise<void> {
  const { email } = await userRow(under.transaction, userId);
  await putPassword(under, userId, passwordHash);
  await dropResets(under.transaction, userId);
  await endSessions(under.transaction, userId);
  under.log.note({ action: "reset-password", object: `user ${email}`, workspaceId: null });
}

/** Gives the id of the new user. Throws `conflict` for an address that somebody has. */
export async function insertUser(under: Write, { email, name, passwordHash, grants }: NewUser): Promise<string> {
  const { transaction, log } = under;
  const userId = under.ids.next("usr_");
  const at = new Date(under.at).toISOString();
  const made = await transaction
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
  if (made === undefined) throw new Failure("conflict", `There is a user ${email} already.`, { param: "email" });
  if (passwordHash !== null) await putPassword(under, userId, passwordHash);
  log.record("create", `user ${email}`, null, userView(await userRow(transaction, userId)));
  for (const grant of grants) {
    if (grant.administrator) await makeAdministrator(under, userId);
    else await putMember(under, { workspaceId: grant.workspaceId, userId, role: grant.role, keptSession: null });
  }
  return userId;
}

/** The row that sign-in reads the password from, as its library names it. */
async function putPassword({ transaction, at, ids }: Write, userId: string, password: string): Promise<void> {
  const now = new Date(at).toISOString();
  const key = { issuer: "local:credential", account_id: userId };
  const made = { id: ids.next("acc_"), user_id: userId, provider_id: "credential", created_at: now };
  await putRow(transaction, "auth_accounts", key, { password, updated_at: now }, made);
}

/** Stores a one-time link to set a new password. Only the newest link of a user is valid. */
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

/** Uses up a reset link. null: it is not valid. */
export async function takeReset(
  { database, clock }: Directory,
  digest: string,
): Promise<{ readonly userId: string; readonly expiresAt: number } | null> {
  // One statement: of two that come at once, one deletes the row and the other finds none.
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

/** Makes an existing user the first administrator. `isNew`: it was made for that. false: there is an administrator already. */
export async function makeFirstAdministrator(under: Write, userId: string, isNew: boolean): Promise<boolean> {
  if (await administratorExists(under.transaction)) return false;
  if (isNew) {
    const user = await userRow(under.transaction, userId);
    under.log.record("create", `user ${user.email}`, null, userView(user));
  }
  await makeAdministrator(under, userId);
  return true;
}

/** Writes the right, and its audit row when it is new; sessions from before do not have it. */
export async function makeAdministrator({ transaction, log }: AuditedWrite, userId: string): Promise<void> {
  const before = await userRow(transaction, userId);
  await addByHand(transaction, { userId, workspaceId: installation, role: "administrator" });
  if (before.administrator === 1) return;
  await setColumns(transaction, "auth_users", { id: userId }, { administrator: 1 });
  await endSessions(transaction, userId);
  log.record("update", `user ${before.email}`, userView(before), userView({ ...before, administrator: 1 }));
}
