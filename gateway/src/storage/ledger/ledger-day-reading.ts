import { type SelectQueryBuilder, sql } from "kysely";
import type { Connection, Flavour } from "../database/database.ts";
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
  | (typeof rollupSketches)[number];

/** Runs of days that are read apart in one statement; each is a branch of it. */
const runsMax = 4;

/**
 * A day that has been summed: how often it was changed, and when it was summed the last time. As long as both are the same, so are its
 * hours; the second, for an operator may empty the table, and the first then begins anew.
 */
export interface KnownDay {
  readonly version: string;
  /** Whether its sums are right at this moment. */
  readonly isSummed: boolean;
}

/** The known days that a time touches, in order. */
export async function knownDays(
  connection: Connection,
  { from, to }: TimeSpan,
): Promise<ReadonlyMap<number, KnownDay>> {
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

/** The days of a time whose sums are right at this moment, as runs without a gap; of many runs the longest. */
export async function readyDays(connection: Connection, span: TimeSpan): Promise<readonly TimeSpan[]> {
  return runsOf(await knownDays(connection, span), span);
}

export function runsOf(days: ReadonlyMap<number, KnownDay>, { from, to }: TimeSpan): readonly TimeSpan[] {
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

/** Whether sums of days have these columns. */
export function daysKnow(columns: Iterable<ScopeColumn>): boolean {
  return grainFor(columns) !== null;
}

/** The grain with the fewest rows that knows these columns; null: only hours do. */
function grainFor(columns: Iterable<ScopeColumn>): DayGrain | null {
  const needed = [...columns];
  return dayGrains.find(({ scope }) => needed.every((column) => scope.includes(column))) ?? null;
}

/** Of what is read: all of it, what is in known days alone, or all but that. */
export type RowPart = "all" | "known" | "rest";

export interface RollupAsk {
  readonly span: TimeSpan;
  readonly part?: RowPart;
  /** Hours of known days that are in none of the days below; only where parts are read. */
  readonly hours?: readonly TimeSpan[];
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
  { span, part = "all", hours = [], days, needed, columns, choose = (rows) => rows }: RollupAsk,
): Rollups {
  const grain = grainFor(needed);
  const runs = grain === null ? [] : days.flatMap((run) => cutToDays(run, span));
  const within = (rows: unknown, { from, to }: TimeSpan) =>
    choose((rows as Rollups).where("hour", ">=", from).where("hour", "<", to));
  const every = connection.selectFrom("usage_rollups");
  // What is not folded yet is in no day.
  const [folded, tail] = [sql<object>`only usage_rollups`, sql<object>`usage_rollups_tail`];
  const alone = name === "postgres" ? connection.selectFrom(folded.as("usage_rollups")) : every;
  const apart = part === "all" ? runs : [...runs, ...hours].sort((a, b) => a.from - b.from);
  const parts = part === "known" ? [] : gapsBetween(apart, span).map((gap) => within(every, gap));
  if (part !== "rest") {
    for (const run of runs) {
      const summed = connection.selectFrom("usage_days as usage_rollups");
      parts.push(within(summed.where(sql`grain`, "=", sql.lit(grain?.name)), run));
    }
  }
  if (part === "known") parts.push(...hours.map((known) => within(alone, known)));
  else if (name === "postgres") {
    parts.push(...apart.map((known) => within(connection.selectFrom(tail.as("usage_rollups")), known)));
  }
  if (parts.length === 0) return within(every, { from: span.from, to: span.from });
  if (runs.length === 0 && parts.length === 1) return parts[0] as Rollups;
  const [first, ...more] = parts.map((rows) => rows.select([...new Set(columns)]));
  let all = first as unknown as SelectQueryBuilder<Tables, "usage_rollups", Tables["usage_rollups"]>;
  for (const rows of more) all = all.unionAll(rows as never);
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
