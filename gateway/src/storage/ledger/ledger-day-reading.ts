import { type SelectQueryBuilder, sql } from "kysely";
import type { Connection, Flavour } from "../database/database.ts";
import type { Row, Tables } from "../database/schema.ts";
import { type DayGrain, dayGrains, dayMs, type ScopeColumn } from "./ledger-days.ts";
import type { rollupScope, rollupSketches, rollupSums } from "./ledger-rollup.ts";

export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

export type Rollups = SelectQueryBuilder<Tables, "usage_rollups", object>;
type RollupColumn = (typeof rollupScope)[number] | (typeof rollupSums)[number] | (typeof rollupSketches)[number];

/** Runs of days in one statement; each is a branch of a union. */
const runsMax = 4;

/**
 * A day that was summed. `version` changes when its hours do. It includes the time of summing, because an operator may empty the table,
 * which resets the counter.
 */
export interface SummedDay {
  readonly version: string;
  /** Its sums are up to date. */
  readonly isSummed: boolean;
}

/** Summed days that a time touches, in order. */
export async function summedDays(
  connection: Connection,
  { from, to }: TimeSpan,
): Promise<ReadonlyMap<number, SummedDay>> {
  const rows = await connection
    .selectFrom("summed_days")
    .select(["day", "touched", "summed", "summed_at"])
    .where("day", ">", from - dayMs)
    .where("day", "<", to)
    .where("summed_at", ">", 0)
    .orderBy("day")
    .execute();
  return new Map(
    rows.map(({ day, touched, summed, summed_at }) => [
      day,
      { version: `${touched} ${summed_at}`, isSummed: touched === summed },
    ]),
  );
}

/** Days of a time with up-to-date sums, as runs without a gap; at most the longest few. */
export async function summedRuns(connection: Connection, span: TimeSpan): Promise<readonly TimeSpan[]> {
  return runsOf(await summedDays(connection, span), span);
}

export function runsOf(days: ReadonlyMap<number, SummedDay>, { from, to }: TimeSpan): readonly TimeSpan[] {
  const runs: { from: number; to: number }[] = [];
  for (const [day, { isSummed }] of days) {
    if (!isSummed || day < from || day > to - dayMs) continue;
    const last = runs.at(-1);
    if (last?.to === day) last.to += dayMs;
    else runs.push({ from: day, to: day + dayMs });
  }
  const longest = runs.toSorted((a, b) => b.to - b.from - (a.to - a.from)).slice(0, runsMax);
  return longest.sort((a, b) => a.from - b.from);
}

/** The grain with the fewest rows that has these columns; null: none has. */
function grainFor(columns: readonly ScopeColumn[]): DayGrain | null {
  return dayGrains.find(({ scope }) => columns.every((column) => scope.includes(column))) ?? null;
}

/** Part of what is read. Sums that are not folded yet are in no past day, and are read with the rest. */
export interface RowPart {
  readonly span: TimeSpan;
  /** Without unfolded sums. */
  readonly isPast?: boolean;
  /** A time that is read separately; of it, only unfolded sums are read here. */
  readonly past?: TimeSpan | null;
}

interface RollupQuery extends RowPart {
  /** From `summedRuns`, in the same snapshot. */
  readonly days: readonly TimeSpan[];
  /** Scope columns to filter or group by. */
  readonly needed: readonly ScopeColumn[];
  /** Columns to read, including `hour` if needed. */
  readonly columns: readonly RollupColumn[];
  /** Filters other than the time. */
  readonly filter?: (rows: Rollups) => Rollups;
}

/** Rollups of a time as one table: sums of days where they are up to date, of hours elsewhere. A day's row has its first hour. */
export function rollupsWithin(
  connection: Connection,
  { name }: Flavour,
  { span, isPast = false, past = null, days, needed, columns, filter = (rows) => rows }: RollupQuery,
): Rollups {
  const grain = grainFor(needed);
  const spans = past === null ? [span] : gapsBetween([past], span);
  const runs = grain === null ? [] : spans.flatMap((each) => days.flatMap((run) => cutToDays(run, each)));
  const gaps = gapsBetween(past === null ? runs : [...runs, past].sort((a, b) => a.from - b.from), span);
  const within = (rows: unknown, { from, to }: TimeSpan) =>
    filter((rows as Rollups).where("hour", ">=", from).where("hour", "<", to));
  const folded = sql<object>`only usage_rollups`.as("usage_rollups");
  const all = connection.selectFrom(isPast && name === "postgres" ? folded : "usage_rollups");
  const parts = gaps.map((gap) => within(all, gap));
  for (const run of runs) {
    const summed = connection.selectFrom("usage_days as usage_rollups");
    parts.push(within(summed.where(sql`grain`, "=", sql.lit(grain?.name)), run));
  }
  if (name === "postgres" && !isPast) {
    const tail = connection.selectFrom(sql<object>`usage_rollups_tail`.as("usage_rollups"));
    parts.push(...[...runs, ...(past === null ? [] : [past])].map((run) => within(tail, run)));
  }
  if (parts.length === 0) parts.push(within(all, { from: span.from, to: span.from }));
  if (runs.length === 0 && parts.length === 1) return parts[0] as Rollups;
  const read = [...new Set(columns)];
  const [first, ...more] = parts.map((rows) => rows.select(read));
  let union = first as unknown as SelectQueryBuilder<Tables, "usage_rollups", Row<"usage_rollups">>;
  for (const rows of more) union = union.unionAll(rows as never);
  return connection.selectFrom(union.as("usage_rollups")) as unknown as Rollups;
}

/** The whole days of a run that are in a time. */
function cutToDays(run: TimeSpan, span: TimeSpan): readonly TimeSpan[] {
  const from = Math.max(run.from, Math.ceil(span.from / dayMs) * dayMs);
  const to = Math.min(run.to, Math.floor(span.to / dayMs) * dayMs);
  return from < to ? [{ from, to }] : [];
}

export function gapsBetween(runs: readonly TimeSpan[], span: TimeSpan): readonly TimeSpan[] {
  const edges = [span.from, ...runs.flatMap(({ from, to }) => [from, to]), span.to];
  const gaps: TimeSpan[] = [];
  for (let index = 0; index < edges.length; index += 2) {
    const [from = 0, to = 0] = edges.slice(index, index + 2);
    if (from < to) gaps.push({ from, to });
  }
  return gaps;
}
