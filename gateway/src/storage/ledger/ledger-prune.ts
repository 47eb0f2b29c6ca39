import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { takeTurn } from "../database/take-turn.ts";
import { hourMs } from "./ledger-rollup.ts";

const markName = "ledger.pruned_before";

/**
 * Removes entries that began before `beforeMs`, in small batches, and with them the rollups of calls that were refused: these
 * say nothing that is paid for. The other rollups stay. Resolves to how many entries went.
 */
export async function pruneLedger(database: Database, beforeMs: number): Promise<number> {
  await raiseMark(database, markName, beforeMs);
  const removed = await pruneEntries(database, beforeMs);
  await pruneRefusals(database, beforeMs);
  return removed;
}

async function pruneEntries(database: Database, beforeMs: number): Promise<number> {
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
    await pause();
  }
}

/** An hour at a time, from where the last pruning came to; each is short. */
async function pruneRefusals({ kysely, flavour }: Database, beforeMs: number): Promise<void> {
  const first = await kysely
    .selectFrom("usage_rollups")
    .select((eb) => eb.fn.min<number | null>("hour").as("hour"))
    .executeTakeFirst();
  const end = beforeMs - (beforeMs % hourMs);
  for (let from = Math.max(first?.hour ?? end, await markOf(kysely, refusalsMark)); from < end; from += hourMs) {
    await kysely
      .deleteFrom("usage_rollups")
      .where("hour", "=", from)
      .where("provider", "=", "")
      .where("succeeded", "=", 0)
      .where("cost_nano_usd", "=", 0)
      .execute();
    await pause();
  }
  await raiseMark({ kysely, flavour }, refusalsMark, end);
}

/** Others on this thread, and whoever waits to write, come in between. */
function pause(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, bounds.prunePauseMs));
}

const refusalsMark = "ledger.refusals_pruned_before";

/** Entries that began before this moment may be gone; 0 when none was ever removed. */
export function prunedBefore(connection: Connection): Promise<number> {
  return markOf(connection, markName);
}

async function markOf(connection: Connection, name: string): Promise<number> {
  const row = await connection.selectFrom("settings").select("value").where("name", "=", name).executeTakeFirst();
  return row === undefined ? 0 : Number(row.value);
}

/** Set before the first row goes, so that a check never takes a half-pruned hour for a fault. */
async function raiseMark(
  database: Pick<Database, "kysely" | "flavour">,
  name: string,
  beforeMs: number,
): Promise<void> {
  await database.kysely.transaction().execute(async (transaction) => {
    await takeTurn(database, transaction);
    const mark = Math.max(await markOf(transaction, name), beforeMs);
    await transaction
      .insertInto("settings")
      .values({ name, value: String(mark), managed_by: "system" })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: sql`excluded.value` }))
      .execute();
  });
}
