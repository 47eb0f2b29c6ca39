import { CompiledQuery } from "kysely";
import type { Connection } from "../database/database.ts";
import { sketchOf } from "../database/latency-sketch.ts";
import type { NamedQuery } from "../database/postgres/postgres-driver.ts";
import { postgresArray } from "../database/postgres/postgres-values.ts";
import {
  type LedgerValues,
  ledgerColumns,
  ledgerPlaces,
  literal,
  numberColumns,
  timeColumns,
  usualValues,
} from "./ledger-columns.ts";
import { entrySums, hourMs, rollupColumns, rollupScope, rollupSketches, rollupSums } from "./ledger-rollup.ts";

/**
 * Entries into PostgreSQL: one statement a batch, however long it is, with an array for each column. In the same statement what
 * was new is summed into rows of `usage_rollups_tail`: rows of their own, so that no two writers wait for each other.
 * Whoever reads `usage_rollups` reads them along (the table inherits), and `foldRollups` adds them up later.
 */
export async function insertInto(connection: Connection, given: readonly LedgerValues[]): Promise<number> {
  const { rows } = await connection.executeQuery<Inserted>(insertOf(inOrder(given)));
  return rows[0]?.inserted ?? 0;
}

/** Each attempt once; two writers of the same ones take them in the same order, and do not wait in a circle. */
function inOrder(given: readonly LedgerValues[]): readonly LedgerValues[] {
  const id = (entry: LedgerValues | undefined) => String(entry?.[ledgerPlaces.attempt_id]);
  const sorted = given.toSorted((a, b) => (id(a) < id(b) ? -1 : id(a) > id(b) ? 1 : 0));
  return sorted.filter((entry, index) => index === 0 || id(entry) !== id(sorted[index - 1]));
}

interface Inserted {
  readonly inserted: number;
}

function insertOf(entries: readonly LedgerValues[]): NamedQuery<Inserted> {
  const columns = usualValues.map((usual, place) => {
    // Where arrays are of unequal length the shorter ones are filled up with nulls, which the statement reads as what is usual.
    if (usual !== undefined && entries.every((entry) => entry[place] === usual)) return "{}";
    return postgresArray(entries, (entry) => entry[place]);
  });
  const times = entries.map(timesOf);
  const sketches = rollupSketches.map((_, place) => postgresArray(times, (time) => time[place]));
  const query: CompiledQuery = CompiledQuery.raw(statement, [...columns, ...sketches]);
  return { ...(query as CompiledQuery<Inserted>), name: "ledger_insert" };
}

/** In the order of `rollupSketches`: what the entry alone would count in each. As `addTimes` does it. */
function timesOf(entry: LedgerValues): readonly (string | null)[] {
  if (entry[ledgerPlaces.outcome] !== "succeeded" || entry[ledgerPlaces.calls] === 0) return noTimes;
  const before = Number(entry[ledgerPlaces.started_after_ms]);
  const totalMs = Number(entry[ledgerPlaces.total_ms]);
  const firstTokenMs = entry[ledgerPlaces.first_token_ms];
  if (typeof firstTokenMs !== "number") return [sketchOf(before + totalMs), null, sketchOf(totalMs), null];
  return [sketchOf(before + totalMs), sketchOf(before + firstTokenMs), sketchOf(totalMs), sketchOf(firstTokenMs)];
}

const noTimes = rollupSketches.map(() => null);

/** Rows of the tail are nobody's rival: each has one person. */
const scope = ["at - at % :hour", ...rollupScope.slice(1), "person_id"].map((term) =>
  term.replace(":hour", String(hourMs)),
);

function typeOf(column: string): string {
  return timeColumns.has(column) ? "float8" : numberColumns.has(column) ? "bigint" : "text";
}

const givenColumns = [...ledgerColumns, ...rollupSketches];
const givenValues = [
  ...ledgerColumns.map((column, place) => {
    const usual = usualValues[place];
    return usual === undefined || usual === null ? column : `coalesce(${column}, ${literal(usual)}) as ${column}`;
  }),
  ...rollupSketches,
];

const statement = `
  with given as materialized (
    select ${givenValues.join(", ")}
    from unnest(${givenColumns.map((name, n) => `$${n + 1}::${typeOf(name)}[]`).join(", ")}) as given (${givenColumns.join(", ")})
  ), fresh as (
    insert into ledger_entries (${ledgerColumns.join(", ")}) select ${ledgerColumns.join(", ")} from given
    on conflict do nothing returning attempt_id
  ), tail as (
    insert into usage_rollups_tail (${rollupColumns.join(", ")})
    select ${scope.join(", ")}, ${rollupSums.map((name) => `sum(${entrySums[name]})`).join(", ")},
      ${rollupSketches.map((name) => `coalesce(string_agg(${name}, ''), '')`).join(", ")}
    from given where attempt_id in (select attempt_id from fresh)
    group by ${scope.map((_, n) => n + 1).join(", ")}
  )
  select count(*) as inserted from fresh`;
