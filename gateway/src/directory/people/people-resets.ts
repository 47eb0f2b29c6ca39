import type { AuditSource, TakenReset } from "#ports/index.ts";
import { auditedWrite, type Connection } from "#storage/tables.ts";
import type { PeopleContext } from "./people-options.ts";
import { userRow } from "./people-rows.ts";

export async function createReset(
  options: PeopleContext,
  { userId, digest, expiresAt }: { readonly userId: string; readonly digest: string; readonly expiresAt: number },
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

export async function takeReset({ database, clock }: PeopleContext, digest: string): Promise<TakenReset | null> {
  // One statement: of two that come at once, one deletes the row and the other finds none.
  const row = await database.kysely
    .deleteFrom("password_resets")
    .where("digest", "=", digest)
    .returning(["user_id", "expires_at"])
    .executeTakeFirst();
  if (row === undefined || Number(row.expires_at) <= clock.now()) return null;
  return { userId: row.user_id, expiresAt: Number(row.expires_at) };
}

/** The links to a new password that somebody was given open nothing any more. */
export async function dropResets(connection: Connection, userId: string): Promise<void> {
  await connection.deleteFrom("password_resets").where("user_id", "=", userId).execute();
}
