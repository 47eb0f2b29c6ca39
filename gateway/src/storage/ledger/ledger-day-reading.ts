import { type SelectQueryBuilder, sql } from "kysely";
import type { Connection, Flavour } from "../database/database.ts";
import type { HistogramColumns } from "../database/latency-histogram.ts";
import type { Tables } from "../database/schema.ts";
import { type DayGrain, dayGrains, dayMs, type ScopeColumn } from "./ledger-days.ts";
import type { rollupScope, rollupSketches, rollupSums } from "./ledger-rollup.ts";

export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

export type Rollups = SelectQueryBuilder<Tables, "usage_rollups", object>;
type RollupColumn =
  | (typeof rollupScope)[number]
  | "person_id"
  | (typeof rollupSums)[number]
  | (typeof rollupSketches)[number]
  | keyof HistogramColumns;

/** Runs of days that are read apart in one statement; each is a branch of it. */
const runsMax = 4;

/** The days of a time whose sums are right at this moment, as runs without a gap; of many runs the longest. */
export async function readyDays(connection: Connection, { from, to }: TimeSpan): Promise<readonly TimeSpan[]> {
  const rows = await connection
    .selectFrom("summed_days")
    .select("day")
    .whereRef("summed", "=", "touched")
    .where("day", ">=", from)
    .where("day", "<=", to - dayMs)
    .orderBy("day")
    .execute();
  const runs: { from: number; to: number }[] = [];
  for (const { day } of rows) {
    const last = runs.at(-1);
    if (last?.to === day) last.to += dayMs;
    else runs.push({ from: day, to: day + dayMs });
  }
  const longest = runs.toSorted((a, b) => b.to - b.from - (a.to - a.from)).slice(0, runsMax);
  return longest.sort((a, b) => a.from - b.from);
}

/** The grain with the fewest rows that knows these columns; null: only hours do. */
function grainFor(columns: Iterable<ScopeColumn>): DayGrain | null {
  const needed = [...columns];
  return dayGrains.find(({ scope }) => needed.every((column) => scope.includes(column))) ?? null;
}

export interface RollupAsk {
  readonly span: TimeSpan;
  /** What `readyDays` found, in the same snapshot. */
  readonly days: readonly TimeSpan[];
  /** Columns of scope that are chosen or grouped by. */
  readonly needed: Iterable<ScopeColumn>;
  /** Everything that is read; `hour` too, where it is. */
  readonly columns: readonly RollupColumn[];
  /** What is asked for besides the time. */
  readonly choose?: (rows: Rollups) => Rollups;
}

/**
 * Rollups of a time: of whole days the sums of days, where there are right ones by what is asked for, and of the rest those of hours. To
 * whoever sums them up it is one table of rollups; the hour of a day's row is its first.
 */
export function rollupsWithin(
  connection: Connection,
  { name }: Pick<Flavour, "name">,
  { span, days, needed, columns, choose = (rows) => rows }: RollupAsk,
): Rollups {
  const grain = grainFor(needed);
  const runs = grain === null ? [] : days.flatMap((run) => cutToDays(run, span));
  const within = (rows: unknown, { from, to }: TimeSpan) =>
    choose((rows as Rollups).where("hour", ">=", from).where("hour", "<", to));
  const hours = connection.selectFrom("usage_rollups");
  if (grain === null || runs.length === 0) return within(hours, span);
  const parts = gapsBetween(runs, span).map((gap) => within(hours, gap));
  for (const run of runs) {
    const summed = connection.selectFrom("usage_days as usage_rollups");
    parts.push(within(summed.where(sql`grain`, "=", sql.lit(grain.name)), run));
    // What is not folded yet is in no day.
    if (name === "postgres") {
      parts.push(within(connection.selectFrom(sql<object>`usage_rollups_tail`.as("usage_rollups")), run));
    }
  }
  const [first, ...more] = parts.map((part) => part.select([...new Set(columns)]));
  let all = first as unknown as SelectQueryBuilder<Tables, "usage_rollups", Tables["usage_rollups"]>;
  for (const part of more) all = all.unionAll(part as never);
  return connection.selectFrom(all.as("usage_rollups")) as unknown as Rollups;
}

/** The whole days of a run that lie in a time. */
export function cutToDays(run: TimeSpan, span: TimeSpan): readonly TimeSpan[] {
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
