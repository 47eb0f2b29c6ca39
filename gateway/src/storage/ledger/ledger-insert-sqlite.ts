import { CompiledQuery } from "kysely";
import type { Connection } from "../database/database.ts";
import { runEach } from "../database/sqlite-dialect.ts";
import type { LedgerRecord } from "../journal/record-text.ts";
import { addToKept, type LongRollup, shortenRollup } from "./ledger-fold.ts";
import { indexColumns } from "./ledger-index-columns.ts";
import { rollupColumns, rollupSketches, rollupsOf, type TagsOfRollup } from "./ledger-rollup.ts";
import { writeSessions } from "./session-sums.ts";

/** Inserts records in a transaction, which the caller rolls back on errors. Fails with `isRepeated` if a record is in the ledger already. */
export async function insertAll(
  transaction: Connection,
  records: readonly LedgerRecord[],
  tagsOf: TagsOfRollup,
): Promise<number> {
  // Attempts end in another order than they begin. In the order of their ids, each page of an index is changed once per batch.
  const sorted = records.toSorted((one, other) => (one.json < other.json ? -1 : 1));
  const full = sorted.length - (sorted.length % rowsTogether);
  await runEach(transaction, severalStatement, rowsOf(sorted, 0, full, rowsTogether));
  await runEach(transaction, oneStatement, rowsOf(sorted, full, sorted.length, 1));
  await addSums(transaction, sorted, tagsOf);
  return sorted.length;
}

/** The same where some may be in the ledger already. Resolves to how many were not. */
export async function insertNew(
  transaction: Connection,
  records: readonly LedgerRecord[],
  tagsOf: TagsOfRollup,
): Promise<number> {
  const { changed } = await runEach(transaction, newStatement, rowsOf(records, 0, records.length, 1));
  const added = records.filter((_, index) => (changed[index] ?? 0) > 0);
  if (added.length > 0) await addSums(transaction, added, tagsOf);
  return added.length;
}

async function addSums(transaction: Connection, records: readonly LedgerRecord[], tagsOf: TagsOfRollup): Promise<void> {
  const { rows } = await runEach(transaction, rollupStatement, rollupsOf(records, tagsOf));
  for (const row of rows) {
    if (rollupSketches.some((sketch) => row[sketch] !== null))
      await shortenRollup({ flavour: { name: "sqlite" } }, transaction, row);
  }
  await writeSessions(transaction, records);
}

const rollupStatement = CompiledQuery.raw(
  `insert into usage_rollups as kept (${rollupColumns.join(", ")}) values (${rollupColumns.map(() => "?").join(", ")}) ${addToKept()}`,
) as CompiledQuery<LongRollup>;

/** Values of the records from `start` to `end`, for statements of `together` rows. */
function* rowsOf(records: readonly LedgerRecord[], start: number, end: number, together: number): Iterable<unknown[]> {
  for (let from = start; from < end; from += together) {
    const values: unknown[] = [];
    for (let index = from; index < from + together; index++) {
      const record = records[index] as LedgerRecord;
      for (const { read } of indexColumns) values.push(read(record));
      values.push(record.json);
    }
    yield values;
  }
}

/** One statement inserts several rows, so that the table and its indexes are opened once. */
const rowsTogether = 20;
// Without `or fail`, SQLite keeps a copy of each changed page to undo a statement that fails.
const severalStatement = CompiledQuery.raw(`insert or fail ${intoRows(rowsTogether)}`);
const oneStatement = CompiledQuery.raw(`insert or fail ${intoRows(1)}`);
const newStatement = CompiledQuery.raw(`insert ${intoRows(1)} on conflict do nothing`);

function intoRows(rows: number): string {
  const columns = [...indexColumns.map(({ column }) => column), "record"];
  const values = `(${columns.map(() => "?").join(", ")})`;
  return `into ledger_entries (${columns.join(", ")}) values ${Array(rows).fill(values).join(", ")}`;
}
