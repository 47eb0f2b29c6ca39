import type { ConsoleUser } from "@sluice/contract/console";
import { Failure, type Grant } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite } from "#storage/tables.ts";
import { makeAdministrator } from "./administrators.ts";
import { putMember } from "./members.ts";
import { dropResets, endSessions, type PeopleContext, userRow, userView } from "./people-rows.ts";
import { oneUser } from "./users.ts";

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
export async function createUser(
  options: PeopleContext,
  user: NewUser,
  auditSource: AuditSource,
): Promise<ConsoleUser> {
  return await auditedWrite(options, auditSource, async (under) => {
    const id = await insertUser(under, options, user);
    const made = await oneUser(under.transaction, "id", id);
    if (made === null) throw new Error("a user that was made is not there");
    return made;
  });
}

/** Without the old one. Ends the sessions of the user and their link to a new password. */
export async function setPassword(
  options: PeopleContext,
  userId: string,
  passwordHash: string,
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite(options, auditSource, async (under) => {
    const { email } = await userRow(under.transaction, userId);
    await putPassword(under, options, { userId, passwordHash });
    await dropResets(under.transaction, userId);
    await endSessions(under.transaction, userId);
    under.log.note({ action: "reset-password", object: `user ${email}`, workspaceId: null });
  });
}

/** Gives the id of the new user. Throws `conflict` for an address that somebody has. */
export async function insertUser(
  under: AuditedWrite,
  options: Pick<PeopleContext, "ids">,
  { email, name, passwordHash, grants }: NewUser,
): Promise<string> {
  const { transaction, log } = under;
  const userId = options.ids.next("usr_");
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
  if (passwordHash !== null) await putPassword(under, options, { userId, passwordHash });
  log.record("create", `user ${email}`, null, userView(await userRow(transaction, userId)));
  for (const grant of grants) {
    if (grant.administrator) await makeAdministrator(under, userId);
    else await putMember(under, { workspaceId: grant.workspaceId, userId, role: grant.role, keptSession: null });
  }
  return userId;
}

/** The row that sign-in reads the password from, as its library names it. */
async function putPassword(
  { transaction, at }: AuditedWrite,
  { ids }: Pick<PeopleContext, "ids">,
  { userId, passwordHash }: { readonly userId: string; readonly passwordHash: string },
): Promise<void> {
  const now = new Date(at).toISOString();
  await transaction
    .insertInto("auth_accounts")
    .values({
      id: ids.next("acc_"),
      user_id: userId,
      issuer: "local:credential",
      account_id: userId,
      provider_id: "credential",
      password: passwordHash,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(["issuer", "account_id"]).doUpdateSet({ password: passwordHash, updated_at: now }),
    )
    .execute();
}

/** Stores a one-time link to set a new password. Only the newest link of a user is valid. */
export async function createReset(
  options: PeopleContext,
  userId: string,
  digest: string,
  expiresAt: number,
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite(options, auditSource, async ({ transaction, log }) => {
    const { email } = await userRow(transaction, userId);
    await transaction
      .insertInto("password_resets")
      .values({ user_id: userId, digest, expires_at: expiresAt })
      .onConflict((conflict) => conflict.column("user_id").doUpdateSet({ digest, expires_at: expiresAt }))
      .execute();
    log.record("create", `password reset ${email}`, null, { user_id: userId, email, expires_at: expiresAt });
  });
}

/** Uses up a reset link. null: it is not valid. */
export async function takeReset(
  { database, clock }: PeopleContext,
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
