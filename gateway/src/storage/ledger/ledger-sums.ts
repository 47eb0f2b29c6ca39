import { sql } from "kysely";
import type { Connection, Database } from "../database/database.ts";
import { foldedSketch } from "../database/latency-sketch.ts";
import type { Row } from "../database/schema.ts";
import { bounded } from "./ledger-fold.ts";
import type { Grain, ScopeColumn, TimeSpan } from "./ledger-grains.ts";
import { foldedRollups, rollupScope, rollupSketches, rollupSums } from "./ledger-rollup.ts";

/** Also used in a trigger of migration 001, so it must not change. */
const touchLock = 5_310_043;
/** Held while sums are made: of two concurrent sums, the later one reads newer rows. */
const sumLock = 5_310_044;

/** Inserts change counters. A change of rollups that does not see them yet is committed before this returns. */
export async function insertCounters<Counters>(
  { kysely, flavour }: Database,
  insert: (transaction: Connection) => Promise<Counters>,
): Promise<Counters> {
  return await kysely.transaction().execute(async (transaction) => {
    if (flavour.name === "postgres") await takeLock(transaction, touchLock);
    return await insert(transaction);
  });
}

async function takeLock(transaction: Connection, lock: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(lock)})`.execute(transaction);
}

/** Sums the rollups of one day into `usage_days`, or of several hours into `usage_hours`, each hour alone. */
export async function sumGrain(
  { kysely, flavour }: Database,
  table: "usage_days" | "usage_hours",
  { from, to }: TimeSpan,
  grain: Grain,
): Promise<void> {
  const postgres = flavour.name === "postgres";
  const isDay = table === "usage_days";
  await kysely.transaction().execute(async (transaction) => {
    if (postgres) await takeLock(transaction, sumLock);
    const stale = transaction.deleteFrom(table).where("grain", "=", grain.name);
    await stale.where("hour", ">=", from).where("hour", "<", to).execute();
    // Unfolded sums are in the tail, which is read in addition to the sums.
    const rollups = foldedRollups(flavour);
    await sql`
      insert into ${sql.table(table)} (${sql.raw(insertedColumns)})
      select ${sql.lit(grain.name)}, ${isDay ? sql.lit(from) : sql`hour`}, ${sql.raw(sumsBy(grain, postgres))}
      from ${rollups} where hour >= ${sql.lit(from)} and hour < ${sql.lit(to)}
      group by ${sql.raw([...(isDay ? [] : ["hour"]), ...grain.scope].join(", "))}`.execute(transaction);
    await shortenSketches(transaction, table, { from, to }, grain);
  });
}

const scopeColumns = rollupScope.slice(1) as readonly ScopeColumn[];
const insertedColumns = ["grain", "hour", ...scopeColumns, ...rollupSums, ...rollupSketches].join(", ");

function sumsBy({ scope }: Grain, postgres: boolean): string {
  const joined = postgres ? "string_agg" : "group_concat";
  return [
    ...scopeColumns.map((column) => (scope.includes(column) ? column : "''")),
    ...rollupSums.map((sum) => (postgres ? bounded(`sum(${sum})`) : `sum(${sum})`)),
    ...rollupSketches.map((sketch) => `coalesce(${joined}(${sketch}, ''), '')`),
  ].join(", ");
}

/** Longer sketches are rewritten with each span once. */
const longSketch = 384;

async function shortenSketches(
  transaction: Connection,
  table: "usage_days" | "usage_hours",
  { from, to }: TimeSpan,
  { name, scope }: Grain,
): Promise<void> {
  const rows = await transaction
    .selectFrom(table)
    .select(["hour", ...scopeColumns, ...rollupSketches])
    .where("grain", "=", name)
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .where((eb) => eb.or(rollupSketches.map((sketch) => eb(eb.fn<number>("length", [sketch]), ">", longSketch))))
    .execute();
  for (const row of rows) {
    const folded = rollupSketches.map((sketch) => [sketch, foldedSketch(row[sketch])]);
    let update = transaction
      .updateTable(table)
      .set(Object.fromEntries(folded) as Partial<Row<"usage_days">>)
      .where("grain", "=", name)
      .where("hour", "=", row.hour);
    for (const column of scope) update = update.where(column, "=", row[column]);
    await update.execute();
  }
}
