import { CompiledQuery, sql } from "kysely";
import type { LedgerEntry } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { runEach } from "../database/sqlite-dialect.ts";
import { hasCode } from "../disk/files.ts";
import {
  entryOfValues,
  type LedgerValues,
  ledgerColumns,
  ledgerPlaces,
  literal,
  usualValues,
  valuesOf,
} from "./ledger-columns.ts";
import { addToKept, type LongRollup, shortenRollup } from "./ledger-fold.ts";
import { insertInto } from "./ledger-insert-postgres.ts";
import { monthMaker } from "./ledger-months.ts";
import { rollupColumns, rollupSketches, rollupsOf } from "./ledger-rollup.ts";
import { insertPending } from "./pending-responses.ts";
import { type ObjectRow, objectRowsOf, objectWriter } from "./upstream-objects.ts";

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
  const { kysely, flavour } = database;
  const write = rowWriter(database);
  const makeMonths = flavour.name === "postgres" ? monthMaker(database) : null;
  return async (entries, objects) => {
    const pending = entries.filter(isPending);
    const ended = pending.length === 0 ? entries : entries.filter((entry) => !isPending(entry));
    if (pending.length > 0) {
      await kysely.transaction().execute(async (transaction) => {
        await insertPending(transaction, pending.map(entryOfValues));
        await write(transaction, [], objects);
      });
    }
    if (ended.length === 0) return 0;
    await makeMonths?.(ended.map((entry) => Number(entry[ledgerPlaces.at])));
    // On PostgreSQL the statement is a transaction by itself.
    const insert = () =>
      makeMonths !== null && objects.length === 0
        ? insertInto(kysely, ended)
        : kysely.transaction().execute((transaction) => write(transaction, ended, objects));
    try {
      return await insert();
    } catch (thrown) {
      // The month of an entry was cut out of the default part at this very moment: now it has a place.
      if (!hasCode(thrown, /^23514$/)) throw thrown;
      return await insert();
    }
  };
}

function isPending(entry: LedgerValues): boolean {
  return entry[ledgerPlaces.outcome] === "pending";
}

export type LedgerWriter = (transaction: Connection, entries: readonly LedgerEntry[]) => Promise<number>;

/** The same for a transaction that writes something else with it. */
export function ledgerWriter(database: Database): LedgerWriter {
  const write = rowWriter(database);
  return (transaction, entries) => write(transaction, entries.map(valuesOf), objectRowsOf(entries));
}

function rowWriter(database: Database) {
  const insert = database.flavour.name === "postgres" ? insertInto : sqliteWriter(database);
  const writeObjects = objectWriter(database);
  return async (
    transaction: Connection,
    entries: readonly LedgerValues[],
    objects: readonly ObjectRow[],
  ): Promise<number> => {
    const added = entries.length === 0 ? 0 : await insert(transaction, entries);
    await writeObjects(transaction, objects);
    return added;
  };
}

function sqliteWriter(database: Database) {
  return async (transaction: Connection, entries: readonly LedgerValues[]): Promise<number> => {
    const added = await insertNew(transaction, entries);
    if (added.length === 0) return 0;
    const { rows } = await runEach(transaction, rollupStatement, rollupsOf(added));
    for (const row of rows) {
      if (rollupSketches.some((sketch) => row[sketch] !== null)) await shortenRollup(database, transaction, row);
    }
    return added.length;
  };
}

const rollupStatement = CompiledQuery.raw(
  `insert into usage_rollups as kept (${rollupColumns.join(", ")}) values (${rollupColumns.map(() => "?").join(", ")}) ${addToKept()}`,
) as CompiledQuery<LongRollup>;

/**
 * SQLite: inserts entries and resolves to those that were new. Several go with one run of a statement, which opens the table and its
 * indexes once for all of them, and those that have nothing in the rarer columns go without binding these. `or ignore` leaves out
 * what cannot be inserted, whatever the reason; only such a statement needs no copy of each page that it changes, in case that it fails
 * in its middle. So when fewer rows were inserted than given, what is not there goes again by itself, where a fault is one.
 */
async function insertNew(connection: Connection, entries: readonly LedgerValues[]): Promise<readonly LedgerValues[]> {
  const last = await connection.executeQuery<{ row: number | null }>(lastRow);
  const plain = entries.filter(isPlain);
  const full = plain.length === entries.length ? [] : entries.filter((entry) => !isPlain(entry));
  const inserted =
    (await insertAll(connection, plainStatements, plain)) + (await insertAll(connection, fullStatements, full));
  if (inserted === entries.length) return entries;
  return await findNew(connection, last.rows[0]?.row ?? 0, [...plain, ...full]);
}

/** What was inserted since `last` is behind it. Of an attempt that was given twice the first is there. */
async function findNew(
  connection: Connection,
  last: number,
  entries: readonly LedgerValues[],
): Promise<LedgerValues[]> {
  const { rows } = await sql<{ id: string }>`select attempt_id as id from ledger_entries where rowid > ${last}`.execute(
    connection,
  );
  const ids = new Set<LedgerValues[number] | undefined>(rows.map(({ id }) => id));
  const added: LedgerValues[] = [];
  const left: LedgerValues[] = [];
  for (const entry of entries) (ids.delete(entry[ledgerPlaces.attempt_id]) ? added : left).push(entry);
  const { changed } = await runEach(connection, strictStatement, left);
  added.push(...left.filter((_, index) => (changed[index] ?? 0) > 0));
  return added;
}

interface Statements {
  readonly one: CompiledQuery;
  readonly several: CompiledQuery;
  readonly bind: (entry: LedgerValues, into: unknown[]) => void;
}

/** How many rows were inserted. */
async function insertAll(
  connection: Connection,
  statements: Statements,
  entries: readonly LedgerValues[],
): Promise<number> {
  const { one, several, bind } = statements;
  const together: unknown[][] = [];
  let at = 0;
  for (; at + rowsTogether <= entries.length; at += rowsTogether) {
    const parameters: unknown[] = [];
    for (let row = at; row < at + rowsTogether; row++) bind(entries[row] as LedgerValues, parameters);
    together.push(parameters);
  }
  const alone = entries.slice(at).map((entry) => {
    const parameters: unknown[] = [];
    bind(entry, parameters);
    return parameters;
  });
  let inserted = 0;
  for (const [query, parameters] of [
    [several, together],
    [one, alone],
  ] as const) {
    if (parameters.length === 0) continue;
    for (const changed of (await runEach(connection, query, parameters)).changed) inserted += changed;
  }
  return inserted;
}

const rowsTogether = 16;

const places = ledgerColumns.map((_, place) => place);
const boundPlaces = places.filter((place) => usualValues[place] === undefined);
const usualPlaces = places.filter((place) => usualValues[place] !== undefined);

function isPlain(entry: LedgerValues): boolean {
  for (const place of usualPlaces) if (entry[place] !== usualValues[place]) return false;
  return true;
}

const plainRow = usualValues.map((usual) => (usual === undefined ? "?" : literal(usual)));
const fullRow = ledgerColumns.map(() => "?");

const plainStatements: Statements = {
  one: ignoring(plainRow, 1),
  several: ignoring(plainRow, rowsTogether),
  bind: (entry, into) => {
    for (const place of boundPlaces) into.push(entry[place]);
  },
};

const fullStatements: Statements = {
  one: ignoring(fullRow, 1),
  several: ignoring(fullRow, rowsTogether),
  bind: (entry, into) => {
    for (const value of entry) into.push(value);
  },
};

function ignoring(row: readonly string[], rows: number): CompiledQuery {
  return CompiledQuery.raw(`insert or ignore ${intoRows(row, rows)}`);
}

const strictStatement = CompiledQuery.raw(`insert ${intoRows(fullRow, 1)} on conflict do nothing`);
const lastRow = CompiledQuery.raw("select max(rowid) as row from ledger_entries") as CompiledQuery<{
  row: number | null;
}>;

function intoRows(row: readonly string[], rows: number): string {
  const values = `(${row.join(", ")})`;
  return `into ledger_entries (${ledgerColumns.join(", ")}) values ${Array(rows).fill(values).join(", ")}`;
}
