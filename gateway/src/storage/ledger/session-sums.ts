import { CompiledQuery } from "kysely";
import { agentNameOf, inputClasses, outputClasses, type Usage, usageClassColumns, usageClasses } from "#core/index.ts";
import { type Connection, type Database, deleteInBatches } from "../database/database.ts";
import { postgresArray } from "../database/postgres/postgres-values.ts";
import type { Row } from "../database/schema.ts";
import { runEach } from "../database/sqlite-dialect.ts";
import { inIntent, inSettlement, type LedgerRecord } from "../journal/record-text.ts";
import { bounded } from "./ledger-fold.ts";

/** The person of a session that several people continued. */
export const severalPeople = "*";

const personBeside = `case when kept.person_id is not distinct from excluded.person_id then kept.person_id else '${severalPeople}' end`;

/**
 * Sums of sessions: one row for each session of a key, written in the transaction of the entries that it counts.
 *
 * listed     the caller named the session, or it has a second turn
 * not listed a single call that might have been continued; removed a day later, see `pruneSessions`
 */
type SessionRow = Row<"sessions">;

/** Sums of a session, for the check against its entries too. */
export const sessionSums = [
  "requests",
  "turns",
  "errors",
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_tokens",
  "cost_nano_usd",
] as const satisfies readonly (keyof SessionRow)[];

const textColumns = [
  ...["key_id", "session", "workspace_id", "group_id", "person_id", "source", "agent", "models"],
] as const satisfies readonly (keyof SessionRow)[];
const numberColumns = [
  "first_at",
  "last_at",
  ...sessionSums,
  "listed",
] as const satisfies readonly (keyof SessionRow)[];
export const sessionColumns = [...textColumns, ...numberColumns];

/** Calls that generate nothing; they are requests of a session, not turns. */
const countingEndpoints = ["count-tokens", "input-tokens", "gemini-count-tokens"] as const;
const countsOnly: ReadonlySet<unknown> = new Set(countingEndpoints);
/** Outcomes that count as errors. */
const sessionErrors = ["failed", "interrupted", "rejected"] as const;
const isError: ReadonlySet<unknown> = new Set(sessionErrors);
/** Sources that callers and agents name: such a session is listed from its first call on. */
export const namedSources = ["header", "agent"] as const;
const isNamed: ReadonlySet<unknown> = new Set(namedSources);

const tokenClasses = {
  input_tokens: inputClasses,
  cache_read_tokens: ["cacheRead", "cacheReadAudio"],
  cache_write_tokens: ["cacheWrite5m", "cacheWrite1h"],
  output_tokens: outputClasses,
} as const satisfies Partial<Record<keyof SessionRow, readonly (keyof Usage)[]>>;
type TokenSum = keyof typeof tokenClasses;
const tokenSums = Object.entries(tokenClasses) as unknown as readonly [TokenSum, readonly (keyof Usage)[]][];
/** Records count usage in the order of `usageClasses`. */
const tokenPlaces = tokenSums.map(([sum, names]) => [sum, names.map((name) => usageClasses.indexOf(name))] as const);

/** SQL expressions for what one entry of the view `ledger` adds to each sum. They must agree with `add`. */
export const sessionEntrySums: Readonly<Record<(typeof sessionSums)[number], string>> = {
  ...(Object.fromEntries(
    tokenSums.map(([sum, names]) => [sum, names.map((name) => usageClassColumns[name]).join(" + ")]),
  ) as Record<TokenSum, string>),
  requests: "case when retry_index = 0 then calls else 0 end",
  turns: `case when retry_index = 0 and endpoint not in (${listOf(countingEndpoints)}) then calls else 0 end`,
  errors: `case when outcome in (${listOf(sessionErrors)}) then calls else 0 end`,
  cost_nano_usd: "cost_nano_usd",
};

function listOf(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

/** Model names of a session. */
const modelsMax = 16;
const dayMs = 86_400_000;

type Sums = { -readonly [Column in keyof SessionRow]: SessionRow[Column] };

/** The rows that these records add, in key order, so that concurrent writers lock in the same order. */
function sessionRowsOf(records: readonly LedgerRecord[]): readonly SessionRow[] {
  const found = new Map<string, { readonly row: Sums; readonly models: Set<string> }>();
  for (const record of records) {
    const session = record.textOrNull(inIntent.session);
    if (session === null) continue;
    const name = `${record.text(inIntent.keyId)}\n${session}`;
    let sum = found.get(name);
    if (sum === undefined) {
      sum = { row: emptyRow(record, session), models: new Set() };
      found.set(name, sum);
    }
    if (sum.models.size < modelsMax) sum.models.add(record.text(inIntent.model));
    add(sum.row, record);
  }
  return [...found]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { row, models }]) => {
      const isListed = row.listed === 1 || row.turns > 1;
      return { ...row, models: JSON.stringify([...models].toSorted()), listed: isListed ? 1 : 0 };
    });
}

function emptyRow(record: LedgerRecord, session: string): Sums {
  const at = record.number(inIntent.at);
  const source = record.text(inIntent.sessionSource);
  return {
    key_id: record.text(inIntent.keyId),
    session,
    workspace_id: record.text(inIntent.workspaceId),
    group_id: record.text(inIntent.groupId),
    person_id: record.textOrNull(inIntent.personId),
    source,
    agent: "",
    models: "[]",
    first_at: at,
    last_at: at,
    requests: 0,
    turns: 0,
    errors: 0,
    input_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    cost_nano_usd: 0,
    listed: isNamed.has(source) ? 1 : 0,
  };
}

function add(row: Sums, record: LedgerRecord): void {
  const { calls } = record;
  const at = record.number(inIntent.at);
  const person = record.textOrNull(inIntent.personId);
  row.first_at = Math.min(row.first_at, at);
  row.last_at = Math.max(row.last_at, at);
  row.group_id = record.text(inIntent.groupId);
  if (row.person_id !== person) row.person_id = severalPeople;
  row.agent = agentNameOf(record.text(inIntent.userAgent)) || row.agent;
  if (record.number(inIntent.retryIndex) === 0) {
    row.requests += calls;
    if (!countsOnly.has(record.text(inIntent.endpoint))) row.turns += calls;
  }
  if (isError.has(record.text(inSettlement.outcome))) row.errors += calls;
  const usage = record.numbers(inSettlement.usage);
  for (const [column, places] of tokenPlaces) for (const place of places) row[column] += usage[place] ?? 0;
  row.cost_nano_usd += record.number(inSettlement.costNanoUsd);
}

/** SQLite: adds the sums of records, each of which is given once, to their sessions. */
export async function writeSessions(transaction: Connection, records: readonly LedgerRecord[]): Promise<void> {
  const rows = sessionRowsOf(records);
  if (rows.length === 0) return;
  const values = rows.map((row) => sessionColumns.map((column) => row[column]));
  await runEach(transaction, sqliteUpsert, values);
}

/** PostgreSQL: the parameters of `sessionUpsert` for records, each of which is given once. */
export function sessionParameters(records: readonly LedgerRecord[]): readonly string[] {
  const rows = sessionRowsOf(records);
  return sessionColumns.map((column) => postgresArray(rows, (row) => row[column]));
}

function sqliteStatement(): string {
  const values = sessionColumns.map(() => "?").join(", ");
  const models = `(select json_group_array(value) from (select value from json_each(kept.models)
    union select value from json_each(excluded.models) limit ${modelsMax}))`;
  return `insert into sessions as kept (${sessionColumns.join(", ")}) values (${values})
  ${addition({ least: "min", greatest: "max", models, added: (sum) => `kept.${sum} + excluded.${sum}` })}`;
}

/** PostgreSQL: adds sums to sessions, in key order. `before`: the number of parameters before the sessions. */
export function sessionUpsert(before: number): string {
  const types = sessionColumns.map((column, n) => `$${before + n + 1}::${isText.has(column) ? "text" : "bigint"}[]`);
  const models = `(select json_agg(value)::text from (select value from json_array_elements_text(kept.models::json) as k (value)
    union select value from json_array_elements_text(excluded.models::json) as e (value) limit ${modelsMax}) as merged)`;
  const added = (sum: string) => bounded(`kept.${sum}::numeric + excluded.${sum}`);
  return `insert into sessions as kept (${sessionColumns.join(", ")}) select * from unnest(${types.join(", ")})
  ${addition({ least: "least", greatest: "greatest", models, added })}`;
}

const isText: ReadonlySet<string> = new Set(textColumns);

interface Expressions {
  readonly least: string;
  readonly greatest: string;
  /** The model names of both. */
  readonly models: string;
  readonly added: (sum: string) => string;
}

function addition({ least, greatest, models, added }: Expressions): string {
  const changes = [
    "group_id = excluded.group_id",
    `person_id = ${personBeside}`,
    "agent = case when excluded.agent = '' then kept.agent else excluded.agent end",
    `models = case when kept.models = excluded.models then kept.models else ${models} end`,
    `first_at = ${least}(kept.first_at, excluded.first_at)`,
    `last_at = ${greatest}(kept.last_at, excluded.last_at)`,
    ...sessionSums.map((sum) => `${sum} = ${added(sum)}`),
    `listed = case when kept.listed = 1 or excluded.listed = 1 or kept.turns + excluded.turns > 1 then 1 else 0 end`,
  ];
  return `on conflict (key_id, session) do update set ${changes.join(", ")}`;
}

const sqliteUpsert = CompiledQuery.raw(sqliteStatement());

/**
 * Removes sessions with no call since `beforeMs`, and unlisted ones a day before the newest unlisted one. If such a session is continued
 * later, its sums begin anew.
 */
export async function pruneSessions(database: Database, beforeMs: number): Promise<void> {
  const newest = await database.kysely
    .selectFrom("sessions")
    .select((eb) => eb.fn.max<number | null>("last_at").as("at"))
    .where("listed", "=", 0)
    .executeTakeFirstOrThrow();
  await deleteOlder(database, { listed: 1, before: beforeMs });
  if (newest.at !== null) await deleteOlder(database, { listed: 0, before: Math.max(beforeMs, newest.at - dayMs) });
}

async function deleteOlder(
  database: Database,
  { listed, before }: { readonly listed: 0 | 1; readonly before: number },
): Promise<void> {
  await deleteInBatches(database, (rows) => {
    const oldest = database.kysely
      .selectFrom("sessions")
      .select(["key_id", "session"])
      .where("listed", "=", listed)
      .where("last_at", "<", before)
      .limit(rows);
    return database.kysely
      .deleteFrom("sessions")
      .where((eb) => eb(eb.refTuple("key_id", "session"), "in", oldest.$asTuple("key_id", "session")));
  });
}
