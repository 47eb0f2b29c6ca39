import { CompiledQuery } from "kysely";
import type { LedgerEntry } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
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
import { indexColumns, totalMsOf } from "./ledger-index-columns.ts";
import { insertAll, insertNew, isRepeated } from "./ledger-insert-postgres.ts";
import { monthMaker } from "./ledger-months.ts";
import { rollupColumns, rollupSketches, rollupsOf } from "./ledger-rollup.ts";
import { insertPending } from "./pending-responses.ts";
import { hasObjects, objectRowsOf, objectWriter } from "./upstream-objects.ts";

/**
 * Makes the function that puts entries into the ledger and moves the rollups by exactly those that were new, in one
 * transaction. Giving an entry twice, in one batch or in two, counts once.
 */
export function ledgerInsert(database: Database): (entries: readonly LedgerEntry[]) => Promise<number> {
  const insert = ledgerRecordInsert(database);
  return (entries) => insert(entries.map(ledgerRecordOf));
}

/** The same of records. Entries that are pending become tasks. */
export function ledgerRecordInsert(database: Database): (records: readonly LedgerRecord[]) => Promise<number> {
  const { kysely, flavour } = database;
  const write = recordWriter(database);
  const writeTogether = (records: readonly LedgerRecord[]) =>
    kysely.transaction().execute((transaction) => write(transaction, records));
  const insert = flavour.name === "postgres" ? insertInMonths(database, writeTogether) : writeTogether;
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

/** PostgreSQL: one statement, which is a transaction by itself; or several, where it has to be looked which records are new. */
function insertInMonths(database: Database, writeTogether: (records: readonly LedgerRecord[]) => Promise<number>) {
  const makeMonths = monthMaker(database);
  const insertOnce = async (records: readonly LedgerRecord[]): Promise<number> => {
    if (records.some(hasObjects)) return await writeTogether(records);
    try {
      return await insertAll(database.kysely, records);
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
      // The month of an entry was cut out of the default part at this very moment: now it has a place.
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
  const write = recordWriter(database);
  return (transaction, entries) => write(transaction, entries.map(ledgerRecordOf));
}

/** `withObjects`: records whose objects are written. */
function recordWriter(database: Database) {
  const insert = database.flavour.name === "postgres" ? insertNew : sqliteWriter(database);
  const writeObjects = objectWriter(database);
  return async (
    transaction: Connection,
    records: readonly LedgerRecord[],
    withObjects: readonly LedgerRecord[] = records,
  ): Promise<number> => {
    const added = records.length === 0 ? 0 : await insert(transaction, records);
    await writeObjects(transaction, objectRowsOf(withObjects.filter(hasObjects)));
    return added;
  };
}

function sqliteWriter(database: Database) {
  return async (transaction: Connection, records: readonly LedgerRecord[]): Promise<number> => {
    const added = await insertRecords(transaction, records);
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
 * SQLite: inserts records and resolves to those that were new. Several go with one run of a statement, which opens the table and its
 * indexes once for all of them. `or ignore` leaves out what cannot be inserted, whatever the reason. So when fewer rows were inserted than
 * given, all goes again row by row, where it is seen which are new, and where a fault is one.
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
  const { changed } = await runEach(connection, strictStatement, records.map(fullValues));
  return records.filter((_, index) => (changed[index] ?? 0) > 0);
}

const savepoint = CompiledQuery.raw("savepoint ledger_records");
const rollbackToSavepoint = CompiledQuery.raw("rollback to ledger_records");
const releaseSavepoint = CompiledQuery.raw("release ledger_records");

/** Records that most calls make go together, without the columns that these leave empty; the others one by one. */
function statementsOf(records: readonly LedgerRecord[]): readonly (readonly [CompiledQuery, unknown[][]])[] {
  const together: unknown[][] = [];
  const alone: unknown[][] = [];
  let values: unknown[] = [];
  for (const record of records) {
    if (!isPlain(record)) {
      alone.push(fullValues(record));
      continue;
    }
    pushPlainValues(record, values);
    if (values.length < plainColumns.length * rowsTogether) continue;
    together.push(values);
    values = [];
  }
  const left = Array.from({ length: values.length / plainColumns.length }, (_, n) =>
    values.slice(n * plainColumns.length, (n + 1) * plainColumns.length),
  );
  return (
    [
      [plainStatements.several, together],
      [plainStatements.one, left],
      [fullStatement, alone],
    ] as const
  ).filter(([, parameters]) => parameters.length > 0);
}

const rowsTogether = 20;

function isPlain({ settlement }: LedgerRecord): boolean {
  return (
    settlement[settlementPlaces.outcome] === "succeeded" &&
    settlement[settlementPlaces.httpStatus] === 200 &&
    settlement[settlementPlaces.errorCode] === null &&
    settlement[settlementPlaces.upstreamId] === null
  );
}

/** What a plain record has in the other columns. */
const plainLiterals = { outcome: "'succeeded'", http_status: "200", error_code: "null", upstream_id: "null" } as const;
const plainColumns = [
  ...indexColumns.map(({ column }) => column).filter((column) => !(column in plainLiterals)),
  "record",
];

/** In the order of `plainColumns`. Written out, because it runs for every call. */
function pushPlainValues(record: LedgerRecord, into: unknown[]): void {
  const { intent, settlement, json } = record;
  into.push(
    intent[intentPlaces.at],
    intent[intentPlaces.attemptId],
    settlement[settlementPlaces.endedAt],
    intent[intentPlaces.requestId],
    intent[intentPlaces.workspaceId],
    intent[intentPlaces.groupId],
    intent[intentPlaces.keyId],
    intent[intentPlaces.personId] ?? null,
    intent[intentPlaces.model],
    intent[intentPlaces.provider],
    totalMsOf(record),
    json,
  );
}

function fullValues(record: LedgerRecord): unknown[] {
  return [...indexColumns.map(({ read }) => read(record)), record.json];
}

const fullColumns = [...indexColumns.map(({ column }) => column), "record"];
const fullStatement = CompiledQuery.raw(`insert or ignore ${intoRows(fullColumns, [], 1)}`);
const strictStatement = CompiledQuery.raw(`insert ${intoRows(fullColumns, [], 1)} on conflict do nothing`);
const plainStatements = {
  one: CompiledQuery.raw(`insert or ignore ${intoRows(plainColumns, Object.entries(plainLiterals), 1)}`),
  several: CompiledQuery.raw(`insert or ignore ${intoRows(plainColumns, Object.entries(plainLiterals), rowsTogether)}`),
};

function intoRows(columns: readonly string[], literals: readonly (readonly [string, string])[], rows: number): string {
  const names = [...columns, ...literals.map(([column]) => column)];
  const values = `(${[...columns.map(() => "?"), ...literals.map(([, literal]) => literal)].join(", ")})`;
  return `into ledger_entries (${names.join(", ")}) values ${Array(rows).fill(values).join(", ")}`;
}
