import type { ControlOptions } from "./apply-config.ts";
import { ChangeLog } from "./change-log.ts";
import type { Connection } from "./database.ts";

export async function administratorExists(connection: Connection): Promise<boolean> {
  return (await connection.selectFrom("administrators").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** Of two that set up at the same moment, one becomes the administrator and the other gets false. */
export async function createFirstAdministrator(
  options: ControlOptions,
  email: string,
  passwordHash: string,
): Promise<boolean> {
  return await options.database.kysely.transaction().execute(async (transaction) => {
    if (await administratorExists(transaction)) return false;
    const at = options.clock.now();
    const row = { id: options.ids.next("adm_"), email, password_hash: passwordHash, created_at: at };
    await transaction.insertInto("administrators").values(row).execute();
    const log = new ChangeLog(email, at);
    log.record("create", `administrator ${email}`, null, { id: row.id, email });
    await log.write(transaction);
    return true;
  });
}
