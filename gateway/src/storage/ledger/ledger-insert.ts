import { CompiledQuery } from "kysely";
import type { LedgerEntry } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { chunksOf } from "../database/reconcile.ts";
import { runEach } from "../database/sqlite-dialect.ts";
import { hasCode } from "../disk/files.ts";
import {
  entryOfRecord,
  intentPlaces,
  type LedgerRecord,
  ledgerRecordOf,
  settlementPlaces,
} from "../journal/journal-record.ts";
import { addToKept, type LongRollup, shortenRollup } from "./ledger-fold.ts";
import { indexColumns } from "./ledger-index-columns.ts";
import { insertAll, insertNew, isRepeated } from "./ledger-insert-postgres.ts";
import { monthMaker } from "./ledger-months.ts";
import { rollupColumns, rollupSketches, rollupsOf, type TagsOfRollup } from "./ledger-rollup.ts";
import { insertPending } from "./pending-responses.ts";
import { boundedTags } from "./rollup-tags.ts";
import { writeSessions } from "./session-sums.ts";
import { hasObjects, objectRowsOf, objectWriter } from "./upstream-objects.ts";

/**
 * Returns a function that inserts entries into the ledger and adds the new ones to the rollups, in one transaction. Inserting an entry
 * again, in the same batch or later, changes nothing.
 */
export function ledgerInsert(database: Database): (entries: readonly LedgerEntry[]) => Promise<number> {
  const insert = ledgerRecordInsert(database);
  return (entries) => insert(entries.map(ledgerRecordOf));
}

/** The same of records. Entries that are pending become tasks. */
export function ledgerRecordInsert(database: Database): (records: readonly LedgerRecord[]) => Promise<number> {
  const { kysely, flavour } = database;
  const tagsOf = boundedTags();
  const write = recordWriter(database, tagsOf);
  const writeTogether = (records: readonly LedgerRecord[]) =>
    kysely.transaction().execute((transaction) => write(transaction, records));
  const insert = flavour.name === "postgres" ? insertInMonths(database, writeTogether, tagsOf) : writeTogether;
  return async (records) => {
    const pending = records.filter(isPending);
    if (pending.length === 0) return await insert(records);
    await kysely.transaction().execute(async (transaction) => {
      await insertPending(transaction, pending.map(entryOfRecord));
      await write(transaction, [], pending);
    });
    const ended = records.filter((record) => !isPending(record));
    return ended.length === 0 ? 0 : await insert(ended);
  };
}

/** PostgreSQL: a single statement, or several if some records may be in the ledger already. */
function insertInMonths(
  database: Database,
  writeTogether: (records: readonly LedgerRecord[]) => Promise<number>,
  tagsOf: TagsOfRollup,
) {
  const makeMonths = monthMaker(database);
  const insertOnce = async (records: readonly LedgerRecord[]): Promise<number> => {
    if (records.some(hasObjects)) return await writeTogether(records);
    try {
      return await insertAll(database.kysely, records, tagsOf);
    } catch (thrown) {
      if (!isRepeated(thrown)) throw thrown;
      return await writeTogether(records);
    }
  };
  return async (records: readonly LedgerRecord[]): Promise<number> => {
    await makeMonths(records.map(({ intent }) => intent[intentPlaces.at] as number));
    try {
      return await insertOnce(records);
    } catch (thrown) {
      // The partition of an entry's month was being created at this moment; now it exists.
      if (!hasCode(thrown, /^23514$/)) throw thrown;
      return await insertOnce(records);
    }
  };
}

function isPending({ settlement }: LedgerRecord): boolean {
  return settlement[settlementPlaces.outcome] === "pending";
}

export type LedgerWriter = (transaction: Connection, entries: readonly LedgerEntry[]) => Promise<number>;

/** The same for a transaction that writes something else with it. */
export function ledgerWriter(database: Database): LedgerWriter {
  const write = recordWriter(database, boundedTags());
  return (transaction, entries) => write(transaction, entries.map(ledgerRecordOf));
}

/** `withObjects`: the records that have objects. */
function recordWriter(database: Database, tagsOf: TagsOfRollup) {
  const insert = database.flavour.name === "postgres" ? insertNew : sqliteWriter(database);
  const writeObjects = objectWriter(database);
  return async (
    transaction: Connection,
    records: readonly LedgerRecord[],
    withObjects: readonly LedgerRecord[] = records,
  ): Promise<number> => {
    const added = records.length === 0 ? 0 : await insert(transaction, records, tagsOf);
    await writeObjects(transaction, objectRowsOf(withObjects.filter(hasObjects)));
    return added;
  };
}

function sqliteWriter(database: Database) {
  return async (transaction: Connection, records: readonly LedgerRecord[], tagsOf: TagsOfRollup): Promise<number> => {
    const added = await insertRecords(transaction, records);
    if (added.length === 0) return 0;
    const { rows } = await runEach(transaction, rollupStatement, rollupsOf(added, tagsOf));
    for (const row of rows) {
      if (rollupSketches.some((sketch) => row[sketch] !== null)) await shortenRollup(database, transaction, row);
    }
    await writeSessions(transaction, added);
    return added.length;
  };
}

const rollupStatement = CompiledQuery.raw(
  `insert into usage_rollups as kept (${rollupColumns.join(", ")}) values (${rollupColumns.map(() => "?").join(", ")}) ${addToKept()}`,
) as CompiledQuery<LongRollup>;

/**
 * SQLite: inserts records and resolves to the new ones. One statement inserts several, so that the table and its indexes are opened once.
 * `or ignore` skips rows for any reason; if fewer rows were inserted than given, each is inserted separately to find the new ones and to
 * report errors.
 */
async function insertRecords(
  connection: Connection,
  records: readonly LedgerRecord[],
): Promise<readonly LedgerRecord[]> {
  await connection.executeQuery(savepoint);
  let inserted = 0;
  for (const [query, parameters] of statementsOf(records)) {
    for (const changed of (await runEach(connection, query, parameters)).changed) inserted += changed;
  }
  if (inserted < records.length) await connection.executeQuery(rollbackToSavepoint);
  await connection.executeQuery(releaseSavepoint);
  if (inserted === records.length) return records;
  const { changed } = await runEach(connection, strictStatement, chunksOf(records, 1).map(valuesOf));
  return records.filter((_, index) => (changed[index] ?? 0) > 0);
}

const savepoint = CompiledQuery.raw("savepoint ledger_records");
const rollbackToSavepoint = CompiledQuery.raw("rollback to ledger_records");
const releaseSavepoint = CompiledQuery.raw("release ledger_records");

/** Full statements, and one row at a time for what is left. */
function statementsOf(records: readonly LedgerRecord[]): readonly (readonly [CompiledQuery, unknown[][]])[] {
  const full = records.length - (records.length % rowsTogether);
  return [
    [severalStatement, chunksOf(records.slice(0, full), rowsTogether).map(valuesOf)],
    [oneStatement, chunksOf(records.slice(full), 1).map(valuesOf)],
  ];
}

const rowsTogether = 20;

function valuesOf(records: readonly LedgerRecord[]): unknown[] {
  const values: unknown[] = [];
  for (const record of records) {
    for (const { read } of indexColumns) values.push(read(record));
    values.push(record.json);
  }
  return values;
}

const oneStatement = CompiledQuery.raw(`insert or ignore ${intoRows(1)}`);
const severalStatement = CompiledQuery.raw(`insert or ignore ${intoRows(rowsTogether)}`);
const strictStatement = CompiledQuery.raw(`insert ${intoRows(1)} on conflict do nothing`);

function intoRows(rows: number): string {
  const columns = [...indexColumns.map(({ column }) => column), "record"];
  const values = `(${columns.map(() => "?").join(", ")})`;
  return `into ledger_entries (${columns.join(", ")}) values ${Array(rows).fill(values).join(", ")}`;
}
