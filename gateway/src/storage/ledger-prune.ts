import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Connection, Database } from "./database.ts";

const markName = "ledger.pruned_before";

/** Removes entries that began before `beforeMs`, in small batches; the rollups stay. Resolves to how many went. */
export async function pruneLedger(database: Database, beforeMs: number): Promise<number> {
  await raiseMark(database, beforeMs);
  let removed = 0;
  for (;;) {
    const result = await database.kysely
      .deleteFrom("ledger_entries")
      .where("attempt_id", "in", (eb) =>
        eb
          .selectFrom("ledger_entries")
          .select("attempt_id")
          .where("at", "<", beforeMs)
          .orderBy("at")
          .orderBy("attempt_id")
          .limit(bounds.pruneRows),
      )
      .executeTakeFirst();
    const gone = Number(result.numDeletedRows);
    removed += gone;
    if (gone < bounds.pruneRows) return removed;
    // Others on this thread, and whoever waits to write, come in between.
    await new Promise<void>((resolve) => void setTimeout(resolve, bounds.prunePauseMs));
  }
}

/** Entries that began before this moment may be gone; 0 when none was ever removed. */
export async function prunedBefore(connection: Connection): Promise<number> {
  const row = await connection.selectFrom("settings").select("value").where("name", "=", markName).executeTakeFirst();
  return row === undefined ? 0 : Number(row.value);
}

/** Set before the first row goes, so that a check never takes a half-pruned hour for a fault. */
async function raiseMark(database: Database, beforeMs: number): Promise<void> {
  await database.kysely.transaction().execute(async (transaction) => {
    const mark = Math.max(await prunedBefore(transaction), beforeMs);
    await transaction
      .insertInto("settings")
      .values({ name: markName, value: String(mark), managed_by: "system" })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: sql`excluded.value` }))
      .execute();
  });
}
