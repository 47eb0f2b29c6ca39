import { CompiledQuery } from "kysely";
import type { Connection } from "../database/database.ts";
import type { NamedQuery } from "../database/postgres/postgres-driver.ts";
import { postgresArray, postgresJson } from "../database/postgres/postgres-values.ts";
import { inIntent, type LedgerRecord } from "../journal/record-text.ts";
import { indexColumns } from "./ledger-index-columns.ts";
import { rollupColumns, rollupScope, rollupSketches, rollupsOf, type TagsOfRollup } from "./ledger-rollup.ts";
import { sessionColumns, sessionParameters, sessionUpsert } from "./session-sums.ts";

/**
 * Inserts records into PostgreSQL with one statement: an array for each column of the ledger, of the rollups and of the sessions. Sums
 * become new rows of `usage_rollups_tail`, so that writers never wait for each other there. Queries of `usage_rollups` include them,
 * because the table inherits, and `foldRollups` merges them later. Sums of sessions are added to their rows. Divides by zero if fewer
 * records were inserted than given.
 */
export async function insertAll(
  connection: Connection,
  entries: readonly LedgerRecord[],
  tagsOf: TagsOfRollup,
): Promise<number> {
  const records = inOrder(entries);
  const parameters = [...recordParameters(records), ...sumParameters(records, tagsOf), records.length];
  await connection.executeQuery(named<unknown>("ledger_insert", allStatement, parameters));
  return records.length;
}

/** The same in a transaction, where some may be in the ledger already. Resolves to how many were not. */
export async function insertNew(
  transaction: Connection,
  entries: readonly LedgerRecord[],
  tagsOf: TagsOfRollup,
): Promise<number> {
  const records = inOrder(entries);
  const { rows } = await transaction.executeQuery<{ id: string }>(
    named("ledger_insert_new", newStatement, recordParameters(records)),
  );
  const fresh = new Set(rows.map(({ id }) => id));
  const added = records.filter((record) => fresh.has(idOf(record)));
  if (added.length === 0) return 0;
  await transaction.executeQuery(named<unknown>("ledger_insert_sums", sumsStatement, sumParameters(added, tagsOf)));
  return added.length;
}

function named<Result>(name: string, statement: string, parameters: readonly unknown[]): NamedQuery<Result> {
  const query: CompiledQuery = CompiledQuery.raw(statement, [...parameters]);
  return { ...(query as CompiledQuery<Result>), name };
}

/** Each attempt once, its first record; sorted, so that two writers of the same attempts do not wait for each other in a circle. */
function inOrder(records: readonly LedgerRecord[]): readonly LedgerRecord[] {
  const byId = new Map(records.toReversed().map((record) => [idOf(record), record]));
  return [...byId.keys()].sort().map((id) => byId.get(id) as LedgerRecord);
}

function idOf(record: LedgerRecord): string {
  return record.text(inIntent.attemptId);
}

function recordParameters(records: readonly LedgerRecord[]): readonly string[] {
  return [
    ...indexColumns.map(({ read }) => postgresArray(records, read)),
    `[${records.map(({ json }) => postgresJson(json)).join(",")}]`,
  ];
}

/** Of the rollups, and of the sessions. */
function sumParameters(records: readonly LedgerRecord[], tagsOf: TagsOfRollup): readonly string[] {
  const rollups = rollupsOf(records, tagsOf);
  return [
    ...rollupColumns.map((_, place) => postgresArray(rollups, (rollup) => rollup[place])),
    ...sessionParameters(records),
  ];
}

const recordColumns = [...indexColumns.map(({ column }) => column), "record"].join(", ");
const recordTypes = indexColumns.map(({ type }, n) => `$${n + 1}::${type}[]`).join(", ");
const recordRows = `select ${recordColumns}
  from rows from (unnest(${recordTypes}), jsonb_array_elements($${indexColumns.length + 1}::jsonb)) as records (${recordColumns})`;
const recordInsert = `insert into ledger_entries (${recordColumns}) ${recordRows} on conflict do nothing`;

const textColumns: ReadonlySet<string> = new Set([...rollupScope.slice(1), ...rollupSketches]);

/** `before`: the number of parameters before the rollups. */
function tailInsert(before: number): string {
  const types = rollupColumns.map(
    (column, n) => `$${before + n + 1}::${textColumns.has(column) ? "text" : "bigint"}[]`,
  );
  return `insert into usage_rollups_tail (${rollupColumns.join(", ")}) select * from unnest(${types.join(", ")})`;
}

/**
 * Adds to the rollups and to the sessions. Runs after the main statement, so that no session is locked for attempts that are in the ledger
 * already.
 */
function sumInserts(before: number): string {
  return `tail as (${tailInsert(before)}), continued as (${sessionUpsert(before + rollupColumns.length)})`;
}

const recordParameterCount = indexColumns.length + 1;
const newStatement = `${recordInsert} returning attempt_id as id`;
const sumParameterCount = rollupColumns.length + sessionColumns.length;
const sumsStatement = `with ${sumInserts(0)} select 1`;
const allStatement = `
  with fresh as (${recordInsert} returning 1), ${sumInserts(recordParameterCount)}
  select 1 / (case when count(*) = $${recordParameterCount + sumParameterCount + 1}::bigint then 1 else 0 end) from fresh`;
