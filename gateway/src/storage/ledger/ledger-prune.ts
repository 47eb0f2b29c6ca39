import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import { type Connection, type Database, deleteInBatches, lockForWrite } from "../database/database.ts";
import { putSystemValue, systemValue } from "../database/system-values.ts";
import { pruneChecks } from "./guardrail-checks.ts";
import { dropPartition, ledgerPartitions } from "./ledger-months.ts";
import { hourMs } from "./ledger-rollup.ts";
import { pruneSessions } from "./session-sums.ts";

/** Dropping a month waits for locks while inserts wait for it, so each wait is short and repeated. */
const ledgerDropTries = 20;
const ledgerDropPauseMs = 1_000;

const markName = "ledger.pruned_before";

/**
 * Removes entries that began before `beforeMs`, in small batches, the rollups of refused calls, sessions without a later entry, and checks
 * of guardrails. Other rollups stay. Resolves to the number of entries removed.
 */
export async function pruneLedger(database: Database, beforeMs: number): Promise<number> {
  await raiseMark(database, markName, beforeMs);
  const removed =
    (await dropMonths(database, beforeMs)) +
    (await deleteInBatches(database, (rows) => deleteOldest(database, beforeMs, rows)));
  await pruneRefusals(database, beforeMs);
  await pruneSessions(database, beforeMs);
  await pruneChecks(database, beforeMs);
  return removed;
}

/** PostgreSQL: drops months that are entirely too old. A month that is being read is retried for a while, then left to the deletes. */
async function dropMonths(database: Database, beforeMs: number): Promise<number> {
  if (database.flavour.name === "sqlite") return 0;
  let removed = 0;
  for (const part of await ledgerPartitions(database)) {
    if (part.until === null || part.until > beforeMs) continue;
    const entries = await entriesOf(database, part.name);
    for (let tries = 1; tries <= ledgerDropTries; tries++) {
      if (await dropPartition(database, part)) {
        removed += entries;
        break;
      }
      await Bun.sleep(ledgerDropPauseMs);
    }
  }
  return removed;
}

/** The server's estimate; counted if there is none. */
async function entriesOf({ kysely }: Database, part: string): Promise<number> {
  const about = await sql<{ rows: number }>`
    select reltuples as rows from pg_class where oid = to_regclass(${part})`.execute(kysely);
  const estimated = about.rows[0]?.rows ?? 0;
  if (estimated >= 0) return estimated;
  const counted = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(part)}`.execute(kysely);
  return counted.rows[0]?.rows ?? 0;
}

function deleteOldest({ kysely }: Database, beforeMs: number, rows: number) {
  const oldest = kysely
    .selectFrom("ledger_entries")
    .where("at", "<", beforeMs)
    .orderBy("at")
    .orderBy("attempt_id")
    .limit(rows);
  // The condition on the time keeps the delete out of the other partitions.
  return kysely
    .deleteFrom("ledger_entries")
    .where("at", "<", beforeMs)
    .where((eb) =>
      eb(eb.refTuple("at", "attempt_id"), "in", oldest.select(["at", "attempt_id"]).$asTuple("at", "attempt_id")),
    );
}

/** By hour, on PostgreSQL by day, from where the last run ended. Empty times are skipped. */
async function pruneRefusals({ kysely, flavour }: Database, beforeMs: number): Promise<void> {
  const end = beforeMs - (beforeMs % hourMs);
  const stepMs = flavour.name === "sqlite" ? hourMs : 24 * hourMs;
  const next = async (since: number) => {
    const first = kysely.selectFrom("usage_rollups").where("hour", ">=", since);
    const row = await first.select((eb) => eb.fn.min<number | null>("hour").as("hour")).executeTakeFirst();
    return row?.hour ?? end;
  };
  for (let from = await next(await markOf(kysely, refusalsMark)); from < end; from = await next(from + stepMs)) {
    await kysely
      .deleteFrom("usage_rollups")
      .where("hour", ">=", from)
      .where("hour", "<", Math.min(from + stepMs, end))
      .where("provider", "=", "")
      .where("succeeded", "=", 0)
      .where("cost_nano_usd", "=", 0)
      .execute();
    await Bun.sleep(bounds.prunePauseMs);
  }
  await raiseMark({ kysely, flavour }, refusalsMark, end);
}

const refusalsMark = "ledger.refusals_pruned_before";

/** Entries that began before this may have been removed; 0: none was. */
export function prunedBefore(connection: Connection): Promise<number> {
  return markOf(connection, markName);
}

async function markOf(connection: Connection, name: string): Promise<number> {
  return Number((await systemValue(connection, name)) ?? 0);
}

/** Set before the first delete, so that checks never see a half-pruned hour as a fault. */
async function raiseMark(
  database: Pick<Database, "kysely" | "flavour">,
  name: string,
  beforeMs: number,
): Promise<void> {
  await database.kysely.transaction().execute(async (transaction) => {
    await lockForWrite(database, transaction);
    await putSystemValue(transaction, name, String(Math.max(await markOf(transaction, name), beforeMs)));
  });
}
