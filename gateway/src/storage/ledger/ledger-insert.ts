import type { LedgerEntry } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { hasCode } from "../disk/files.ts";
import { entryOfRecord } from "../journal/journal-record.ts";
import { inIntent, inSettlement, type LedgerRecord, recordMaker } from "../journal/record-text.ts";
import * as postgres from "./ledger-insert-postgres.ts";
import * as sqlite from "./ledger-insert-sqlite.ts";
import { monthMaker } from "./ledger-months.ts";
import type { TagsOfRollup } from "./ledger-rollup.ts";
import { insertPending } from "./pending-responses.ts";
import { boundedTags } from "./rollup-tags.ts";
import { hasObjects, objectRowsOf, objectWriter } from "./upstream-objects.ts";

/**
 * Returns a function that inserts entries into the ledger and adds the new ones to the rollups, in one transaction. Inserting an entry
 * again, in the same batch or later, changes nothing.
 */
export function ledgerInsert(database: Database): (entries: readonly LedgerEntry[]) => Promise<number> {
  const insert = ledgerRecordInsert(database);
  const recordOf = recordMaker();
  return (entries) => insert(entries.map(recordOf));
}

/** The same of records. Entries that are pending become tasks. */
export function ledgerRecordInsert(database: Database): (records: readonly LedgerRecord[]) => Promise<number> {
  const { kysely, flavour } = database;
  const tagsOf = boundedTags();
  const write = recordWriter(database, insertNewIn(database), tagsOf);
  const writeNew = (records: readonly LedgerRecord[]) =>
    kysely.transaction().execute((transaction) => write(transaction, records));
  const writeAll =
    flavour.name === "postgres" ? insertInMonths(database, writeNew, tagsOf) : insertTogether(database, tagsOf);
  const insert = async (records: readonly LedgerRecord[]): Promise<number> => {
    try {
      return await writeAll(records);
    } catch (thrown) {
      if (!hasCode(thrown, isRepeated)) throw thrown;
      return await writeNew(records);
    }
  };
  return async (records) => {
    const pending = records.filter(isPending);
    if (pending.length === 0) return await insert(records);
    await kysely.transaction().execute(async (transaction) => {
      await insertPending(
        transaction,
        pending.map(({ json }) => entryOfRecord(json)),
      );
      await write(transaction, [], pending);
    });
    const ended = records.filter((record) => !isPending(record));
    return ended.length === 0 ? 0 : await insert(ended);
  };
}

/** Some records are in the ledger already. PostgreSQL's statement divides by zero then. */
const isRepeated = /^(?:SQLITE_CONSTRAINT_PRIMARYKEY|22012)$/;

/** SQLite: one transaction. */
function insertTogether(database: Database, tagsOf: TagsOfRollup) {
  const write = recordWriter(database, sqlite.insertAll, tagsOf);
  return (records: readonly LedgerRecord[]): Promise<number> =>
    database.kysely.transaction().execute((transaction) => write(transaction, records));
}

/** PostgreSQL: a single statement, or several if some records have objects. */
function insertInMonths(
  database: Database,
  writeNew: (records: readonly LedgerRecord[]) => Promise<number>,
  tagsOf: TagsOfRollup,
) {
  const makeMonths = monthMaker(database);
  const insertOnce = (records: readonly LedgerRecord[]): Promise<number> =>
    records.some(hasObjects) ? writeNew(records) : postgres.insertAll(database.kysely, records, tagsOf);
  return async (records: readonly LedgerRecord[]): Promise<number> => {
    await makeMonths(records.map((record) => record.number(inIntent.at)));
    try {
      return await insertOnce(records);
    } catch (thrown) {
      // The partition of an entry's month was being created at this moment; now it exists.
      if (!hasCode(thrown, /^23514$/)) throw thrown;
      return await insertOnce(records);
    }
  };
}

function isPending(record: LedgerRecord): boolean {
  return record.is(inSettlement.outcome, "pending");
}

export type LedgerWriter = (transaction: Connection, entries: readonly LedgerEntry[]) => Promise<number>;

/** The same for a transaction that writes something else with it. */
export function ledgerWriter(database: Database): LedgerWriter {
  const write = recordWriter(database, insertNewIn(database), boundedTags());
  const recordOf = recordMaker();
  return (transaction, entries) => write(transaction, entries.map(recordOf));
}

function insertNewIn({ flavour }: Database): typeof sqlite.insertNew {
  return flavour.name === "postgres" ? postgres.insertNew : sqlite.insertNew;
}

/** `withObjects`: the records that have objects. */
function recordWriter(database: Database, insert: typeof sqlite.insertNew, tagsOf: TagsOfRollup) {
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
