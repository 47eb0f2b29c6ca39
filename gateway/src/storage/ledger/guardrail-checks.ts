import { sql } from "kysely";
import { columnsOf, type GuardrailCheckEntry, type GuardrailHour } from "#core/index.ts";
import { type Database, deleteInBatches } from "../database/database.ts";
import { chunksOf } from "../database/reconcile.ts";

/** Far below the maximum number of parameters. */
const rowsTogether = 500;

/** Stores checks. Storing one again changes nothing. */
export async function insertChecks(
  { kysely }: Pick<Database, "kysely">,
  checks: readonly GuardrailCheckEntry[],
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    for (const some of chunksOf(checks, rowsTogether)) {
      await transaction
        .insertInto("guardrail_checks")
        .values(some.map(rowOf))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  });
}

function rowOf({ enforced, ...check }: GuardrailCheckEntry) {
  return { ...columnsOf(check, ["counts", "paths"]), enforced: enforced ? 1 : 0 };
}

/** Counts grow within an hour of a process, so the larger one is the newer. */
export async function countChecks(
  { kysely, flavour }: Pick<Database, "kysely" | "flavour">,
  hours: readonly GuardrailHour[],
): Promise<void> {
  const larger = sql.raw<number>(flavour.name === "postgres" ? "greatest" : "max");
  for (const some of chunksOf(hours, rowsTogether)) {
    await kysely
      .insertInto("guardrail_hours")
      .values(some.map(({ enforced, ...hour }) => ({ ...columnsOf(hour), enforced: enforced ? 1 : 0 })))
      .onConflict((conflict) =>
        conflict
          .columns(["hour", "workspace_id", "guardrail_id", "side", "verdict", "enforced", "source"])
          .doUpdateSet({ checks: sql<number>`${larger}(guardrail_hours.checks, excluded.checks)` }),
      )
      .execute();
  }
}

/** Deletes checks that are older. Their hourly counts stay, like the rollups of the ledger. */
export async function pruneChecks(database: Database, beforeMs: number): Promise<void> {
  const { kysely } = database;
  await deleteInBatches(database, (rows) => {
    const oldest = kysely.selectFrom("guardrail_checks").where("at", "<", beforeMs).orderBy("at").limit(rows);
    return kysely
      .deleteFrom("guardrail_checks")
      .where((eb) =>
        eb(eb.refTuple("at", "check_id"), "in", oldest.select(["at", "check_id"]).$asTuple("at", "check_id")),
      );
  });
}
