import { CompiledQuery } from "kysely";
import type { Connection } from "../database/database.ts";
import type { NamedQuery } from "../database/postgres/postgres-driver.ts";
import { postgresArray, postgresJson } from "../database/postgres/postgres-values.ts";
import { hasCode } from "../disk/files.ts";
import { intentPlaces, type LedgerRecord } from "../journal/journal-record.ts";
import { indexColumns } from "./ledger-index-columns.ts";
import { rollupColumns, rollupScope, rollupSketches, rollupsOf, type TagsOfRollup } from "./ledger-rollup.ts";
import { sessionWriter } from "./session-sums.ts";

/**
 * Inserts records into PostgreSQL with one statement: an array for each column of the ledger, and of the rollups. Sums become new rows of
 * `usage_rollups_tail`, so that writers never wait for each other. Queries of `usage_rollups` include them, because the table inherits, and
 * `foldRollups` merges them later. Fails with `isRepeated` if a record is in the ledger already.
 */
export async function insertAll(
  connection: Connection,
  entries: readonly LedgerRecord[],
  tagsOf: TagsOfRollup,
): Promise<number> {
  const records = inOrder(entries);
  const parameters = [...recordParameters(records), ...rollupParameters(records, tagsOf), records.length];
  await connection.executeQuery(named<unknown>("ledger_insert", allStatement, parameters));
  return records.length;
}

/** The statement divides by zero when fewer records were inserted than given. */
export function isRepeated(thrown: unknown): boolean {
  return hasCode(thrown, /^22012$/);
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
  const parameters = rollupParameters(added, tagsOf);
  await transaction.executeQuery(named<unknown>("ledger_insert_tail", tailStatement, parameters));
  await writeSessions(transaction, added);
  return added.length;
}

const writeSessions = sessionWriter({ flavour: { name: "postgres" } });

function named<Result>(name: string, statement: string, parameters: readonly unknown[]): NamedQuery<Result> {
  const query: CompiledQuery = CompiledQuery.raw(statement, [...parameters]);
  return { ...(query as CompiledQuery<Result>), name };
}

/** Each attempt once, its first record; sorted, so that two writers of the same attempts do not wait for each other in a circle. */
function inOrder(records: readonly LedgerRecord[]): readonly LedgerRecord[] {
  const byId = new Map(records.toReversed().map((record) => [idOf(record), record]));
  return [...byId.keys()].sort().map((id) => byId.get(id) as LedgerRecord);
}

function idOf({ intent }: LedgerRecord): string {
  return intent[intentPlaces.attemptId] as string;
}

function recordParameters(records: readonly LedgerRecord[]): readonly string[] {
  return [
    ...indexColumns.map(({ read }) => postgresArray(records, read)),
    `[${records.map(({ json }) => postgresJson(json)).join(",")}]`,
  ];
}

function rollupParameters(records: readonly LedgerRecord[], tagsOf: TagsOfRollup): readonly string[] {
  const rollups = rollupsOf(records, tagsOf);
  return rollupColumns.map((_, place) => postgresArray(rollups, (rollup) => rollup[place]));
}

const recordColumns = [...indexColumns.map(({ column }) => column), "record"].join(", ");
const recordTypes = indexColumns.map(({ type }, n) => `$${n + 1}::${type}[]`).join(", ");
const recordRows = `select ${recordColumns}
  from rows from (unnest(${recordTypes}), jsonb_array_elements($${indexColumns.length + 1}::jsonb)) as records (${recordColumns})`;
const recordInsert = `insert into ledger_entries (${recordColumns}) ${recordRows} on conflict do nothing`;

const textColumns: ReadonlySet<string> = new Set([...rollupScope.slice(1), ...rollupSketches]);

/** `before`: the number of parameters before those of the rollups. */
function tailInsert(before: number): string {
  const types = rollupColumns.map(
    (column, n) => `$${before + n + 1}::${textColumns.has(column) ? "text" : "bigint"}[]`,
  );
  return `insert into usage_rollups_tail (${rollupColumns.join(", ")}) select * from unnest(${types.join(", ")})`;
}

const recordParameterCount = indexColumns.length + 1;
const newStatement = `${recordInsert} returning attempt_id as id`;
const tailStatement = tailInsert(0);
const allStatement = `
  with fresh as (${recordInsert} returning 1), tail as (${tailInsert(recordParameterCount)})
  select 1 / (case when count(*) = $${recordParameterCount + rollupColumns.length + 1}::bigint then 1 else 0 end) from fresh`;
