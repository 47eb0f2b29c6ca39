import { type CompiledQuery, sql } from "kysely";
import type { LedgerEntry } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { runEach } from "../database/each-row.ts";
import type { LatencyColumn, NewRow } from "../database/schema.ts";
import { entryOfValues, type LedgerValues, ledgerPlaces, valuesOf } from "./ledger-columns.ts";
import { type LongRollup, longSketch, shortenRollup } from "./ledger-fold.ts";
import { insertInto, postgresInsert } from "./ledger-insert-postgres.ts";
import { insertNew } from "./ledger-new-rows.ts";
import { personBeside, rollupColumns, rollupScope, rollupSketches, rollupSums, rollupsOf } from "./ledger-rollup.ts";
import { insertPending } from "./pending-responses.ts";
import { type ObjectRow, objectRowsOf, objectWriter } from "./upstream-object-rows.ts";

/**
 * Makes the function that puts entries into the ledger and moves the rollups by exactly those that were new, in one
 * transaction. Giving an entry twice, in one batch or in two, counts once.
 */
export function ledgerInsert(database: Database): (entries: readonly LedgerEntry[]) => Promise<number> {
  const insert = ledgerValuesInsert(database);
  return (entries) => insert(entries.map(valuesOf), objectRowsOf(entries));
}

type InsertValues = (entries: readonly LedgerValues[], objects: readonly ObjectRow[]) => Promise<number>;

/**
 * The same of entries as the table has them, and of the objects that upstreams keep because of them. Entries that are pending become
 * tasks.
 */
export function ledgerValuesInsert(database: Database): InsertValues {
  const insert = insertOfEnded(database);
  const writeObjects = objectWriter(database);
  return async (entries, objects) => {
    const pending = entries.filter(isPending);
    if (pending.length === 0) return await insert(entries, objects);
    await database.kysely.transaction().execute(async (transaction) => {
      await insertPending(transaction, pending.map(entryOfValues));
      await writeObjects(transaction, objects);
    });
    return await insert(
      entries.filter((entry) => !isPending(entry)),
      objects,
    );
  };
}

function isPending(entry: LedgerValues): boolean {
  return entry[ledgerPlaces.outcome] === "pending";
}

function insertOfEnded(database: Database): InsertValues {
  if (database.flavour.name === "postgres") return postgresInsert(database);
  const write = sqliteWriter(database);
  const writeObjects = objectWriter(database);
  return async (entries, objects) => {
    if (entries.length === 0) return 0;
    return await database.kysely.transaction().execute(async (transaction) => {
      const added = await write(transaction, entries);
      await writeObjects(transaction, objects);
      return added;
    });
  };
}

export type LedgerWriter = (transaction: Connection, entries: readonly LedgerEntry[]) => Promise<number>;

/** The same for a transaction that writes something else with it. */
export function ledgerWriter(database: Database): LedgerWriter {
  const write = database.flavour.name === "postgres" ? insertInto : sqliteWriter(database);
  const writeObjects = objectWriter(database);
  return async (transaction, entries) => {
    const added = await write(transaction, entries.map(valuesOf));
    await writeObjects(transaction, objectRowsOf(entries));
    return added;
  };
}

function sqliteWriter(database: Database) {
  const intoRollups = rollupStatement(database);
  return async (transaction: Connection, entries: readonly LedgerValues[]): Promise<number> => {
    const added = await insertNew(transaction, entries);
    if (added.length === 0) return 0;
    const { rows } = await runEach(transaction, intoRollups, rollupsOf(added));
    for (const row of rows) {
      if (rollupSketches.some((sketch) => row[sketch] !== null)) await shortenRollup(database, transaction, row);
    }
    return added.length;
  };
}

/**
 * Sums are added up, sketches put behind each other: a merge that reads nothing. Gives back the sketches that have become long,
 * which are then written anew.
 */
function rollupStatement(database: Database): CompiledQuery<LongRollup> {
  const row = placeholders(rollupColumns) as unknown as NewRow<"usage_rollups">;
  return database.kysely
    .insertInto("usage_rollups")
    .values(row)
    .onConflict((conflict) =>
      conflict.columns([...rollupScope]).doUpdateSet((eb) => {
        const moved = rollupSums.map((sum) => [sum, eb(`usage_rollups.${sum}`, "+", eb.ref(`excluded.${sum}`))]);
        const joined = rollupSketches.map((sketch) => [
          sketch,
          eb(`usage_rollups.${sketch}`, "||", eb.ref(`excluded.${sketch}`)),
        ]);
        const person = ["person_id", sql.raw(personBeside("usage_rollups", "excluded"))];
        return Object.fromEntries([...moved, ...joined, person]);
      }),
    )
    .returning([...rollupScope])
    .returning(rollupSketches.map((sketch) => whereLong(sketch)))
    .compile();
}

function whereLong(sketch: LatencyColumn) {
  const column = sql.ref(sketch);
  return sql<string | null>`case when length(${column}) > ${sql.lit(longSketch)} then ${column} end`.as(sketch);
}

/** A row that stands for any row: only its columns and their order reach the statement. */
function placeholders(columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column, 0]));
}
