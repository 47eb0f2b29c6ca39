import type { ControlOptions } from "./apply-config.ts";
import { ChangeLog } from "./change-log.ts";
import type { Connection } from "./database.ts";

export async function administratorExists(connection: Connection): Promise<boolean> {
  const row = await connection.selectFrom("auth_users").select("id").where("administrator", "=", 1).executeTakeFirst();
  return row !== undefined;
}

/**
 * A user with a password and the right of an administrator, for an installation that has none. Of two that set up at the
 * same moment, one becomes the administrator and the other gets false; so does an address that is a user's already.
 */
export async function createFirstAdministrator(
  options: ControlOptions,
  email: string,
  passwordHash: string,
): Promise<boolean> {
  return await options.database.kysely.transaction().execute(async (transaction) => {
    if (await administratorExists(transaction)) return false;
    const at = options.clock.now();
    const id = options.ids.next("usr_");
    const times = { created_at: new Date(at).toISOString(), updated_at: new Date(at).toISOString() };
    const made = await transaction
      .insertInto("auth_users")
      .values({
        id,
        name: email.slice(0, email.indexOf("@")) || email,
        email: email.toLowerCase(),
        email_verified: 0,
        image: null,
        two_factor_enabled: 0,
        administrator: 1,
        disabled: 0,
        last_seen_at: null,
        ...times,
      })
      .onConflict((conflict) => conflict.column("email").doNothing())
      .executeTakeFirst();
    if (Number(made.numInsertedOrUpdatedRows ?? 0) === 0) return false;
    await transaction
      .insertInto("auth_accounts")
      .values({
        id: options.ids.next("acc_"),
        user_id: id,
        issuer: "local:credential",
        account_id: id,
        provider_id: "credential",
        access_token: null,
        refresh_token: null,
        id_token: null,
        access_token_expires_at: null,
        refresh_token_expires_at: null,
        scope: null,
        password: passwordHash,
        ...times,
      })
      .execute();
    const log = new ChangeLog(email, at);
    log.record("create", `administrator ${email}`, null, { id, email });
    await log.write(transaction);
    return true;
  });
}
