import { sql } from "kysely";
import type { LedgerEntry } from "#core/index.ts";
import { BulkStatement } from "../database/bulk-statement.ts";
import type { Connection, Database } from "../database/database.ts";
import { histogramColumns } from "../database/latency-histogram.ts";
import { foldedSketch } from "../database/latency-sketch.ts";
import type { LatencyColumn } from "../database/report-tables.ts";
import type { NewRow, Row } from "../database/schema.ts";
import { bindEntry, ledgerColumns } from "./ledger-columns.ts";
import {
  bindRollup,
  type RollupRow,
  rollupColumns,
  rollupScope,
  rollupSketches,
  rollupSums,
  rollupsOf,
} from "./ledger-rollup.ts";

/**
 * Makes the function that puts entries into the ledger and moves the rollups by exactly those that were new, in one
 * transaction. Giving an entry twice, in one batch or in two, counts once.
 */
export function ledgerInsert(database: Database): (entries: readonly LedgerEntry[]) => Promise<number> {
  const write = ledgerWriter(database);
  return async (entries) => {
    if (entries.length === 0) return 0;
    return await database.kysely.transaction().execute((transaction) => write(transaction, entries));
  };
}

export type LedgerWriter = (transaction: Connection, entries: readonly LedgerEntry[]) => Promise<number>;

/** The same for a transaction that writes something else with it. */
export function ledgerWriter(database: Database): LedgerWriter {
  const intoLedger = entryStatement(database);
  const intoRollups = rollupStatement(database);
  return async (transaction, given) => {
    const entries = inOrder(database, given, (a, b) => a.attemptId < b.attemptId);
    const inserted = new Set<string>();
    await intoLedger.run(entries, bindEntry, async (query) => {
      const { rows } = await transaction.executeQuery(query);
      for (const row of rows) inserted.add(row.attempt_id);
    });
    const count = inserted.size;
    if (count === 0) return 0;
    // delete: of an entry that is in the batch twice, only the first was inserted.
    const fresh = entries.filter((entry) => inserted.delete(entry.attemptId));
    const long: LongRollup[] = [];
    await intoRollups.run(inOrder(database, rollupsOf(fresh), isBefore), bindRollup, async (query) => {
      const { rows } = await transaction.executeQuery(query);
      for (const row of rows) if (rollupSketches.some((sketch) => row[sketch] !== null)) long.push(row);
    });
    for (const rollup of long) await shorten(transaction, rollup);
    return count;
  };
}

/** Two writers that take the same rows in different orders would wait for each other; on SQLite there is one at a time. */
function inOrder<T>({ flavour }: Database, rows: readonly T[], before: (a: T, b: T) => boolean): readonly T[] {
  return flavour.name === "sqlite" ? rows : rows.toSorted((a, b) => (before(a, b) ? -1 : before(b, a) ? 1 : 0));
}

function isBefore(a: RollupRow, b: RollupRow): boolean {
  const column = rollupScope.find((name) => a[name] !== b[name]);
  return column !== undefined && a[column] < b[column];
}

function entryStatement(database: Database): BulkStatement<{ attempt_id: string }> {
  const row = placeholders(ledgerColumns) as NewRow<"ledger_entries">;
  return new BulkStatement(ledgerColumns.length, database.flavour.parametersMax, (rows) =>
    database.kysely
      .insertInto("ledger_entries")
      .values(Array.from({ length: rows }, () => row))
      // The key of the table is another one on PostgreSQL; an attempt has one moment.
      .onConflict((conflict) => conflict.doNothing())
      .returning("attempt_id")
      .compile(),
  );
}

type LongRollup = Pick<Row<"usage_rollups">, (typeof rollupScope)[number]> & {
  readonly [Sketch in LatencyColumn]: string | null;
};

/**
 * Sums are added up, sketches put behind each other: a merge that reads nothing. Gives back the sketches that have become long,
 * which are then written anew.
 */
function rollupStatement(database: Database): BulkStatement<LongRollup> {
  const row = { ...placeholders(rollupColumns), ...noHistograms } as NewRow<"usage_rollups">;
  return new BulkStatement(rollupColumns.length, database.flavour.parametersMax, (rows) =>
    database.kysely
      .insertInto("usage_rollups")
      .values(Array.from({ length: rows }, () => row))
      .onConflict((conflict) =>
        conflict.columns([...rollupScope]).doUpdateSet((eb) => {
          const moved = rollupSums.map((sum) => [sum, eb(`usage_rollups.${sum}`, "+", eb.ref(`excluded.${sum}`))]);
          const joined = rollupSketches.map((sketch) => [
            sketch,
            eb(`usage_rollups.${sketch}`, "||", eb.ref(`excluded.${sketch}`)),
          ]);
          return Object.fromEntries([...moved, ...joined]);
        }),
      )
      .returning([...rollupScope])
      .returning(rollupSketches.map((sketch) => whereLong(sketch)))
      .compile(),
  );
}

function whereLong(sketch: LatencyColumn) {
  const column = sql.ref(sketch);
  return sql<string | null>`case when length(${column}) > ${sql.lit(longSketch)} then ${column} end`.as(sketch);
}

/** From here on it is looked whether a sketch could be shorter. */
const longSketch = 1_024;

/** A sketch is written again when that halves it, so that a busy hour is not written whole with each batch. */
async function shorten(transaction: Connection, rollup: LongRollup): Promise<void> {
  const shorter: { [Sketch in LatencyColumn]?: string } = {};
  for (const sketch of rollupSketches) {
    const long = rollup[sketch];
    if (long === null) continue;
    const folded = foldedSketch(long);
    if (folded.length * 2 <= long.length) shorter[sketch] = folded;
  }
  if (Object.keys(shorter).length === 0) return;
  let update = transaction.updateTable("usage_rollups").set(shorter);
  for (const column of rollupScope) update = update.where(column, "=", rollup[column]);
  await update.execute();
}

/** Columns of earlier versions that must hold something. */
const noHistograms = Object.fromEntries(
  Object.values(histogramColumns)
    .flat()
    .map((column) => [column, sql.lit(0)]),
);

/** A row that stands for any row: only its columns and their order reach the statement. */
function placeholders(columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column, 0]));
}
