import type { Database } from "../database/database.ts";

/** How many of these attempts have no entry in the ledger. */
export async function countNotInLedger(database: Database, attemptIds: readonly string[]): Promise<number> {
  let missing = 0;
  for (let at = 0; at < attemptIds.length; at += idsAtOnce) {
    const asked = attemptIds.slice(at, at + idsAtOnce);
    const found = await database.kysely
      .selectFrom("ledger_entries")
      .select("attempt_id")
      .where("attempt_id", "in", asked)
      .execute();
    missing += asked.length - found.length;
  }
  return missing;
}

const idsAtOnce = 500;
