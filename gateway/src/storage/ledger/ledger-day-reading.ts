import { type SelectQueryBuilder, sql } from "kysely";
import type { Connection, Flavour } from "../database/database.ts";
import type { Row, Tables } from "../database/schema.ts";
import { dayGrains, dayMs, type Grain, hourGrains, type ScopeColumn, type TimeSpan } from "./ledger-grains.ts";
import { hourMs, type rollupScope, type rollupSketches, type rollupSums } from "./ledger-rollup.ts";

export type Rollups = SelectQueryBuilder<Tables, "usage_rollups", object>;
type RollupColumn = (typeof rollupScope)[number] | (typeof rollupSums)[number] | (typeof rollupSketches)[number];

/** Runs of days, and of hours, in one statement; each is a branch of a union. */
const unionRunsMax = 4;

/**
 * A day or hour that was summed. `version` changes when its rollups do. It includes the time of summing, because an operator may empty the
 * table, which resets the counter.
 */
interface SummedTime {
  readonly version: string;
  /** Its sums are up to date. */
  readonly isSummed: boolean;
}

/** By their start, in order. */
export type SummedStarts = ReadonlyMap<number, SummedTime>;

/** Summed days that a time touches. */
export async function summedDays(connection: Connection, { from, to }: TimeSpan): Promise<SummedStarts> {
  const rows = await connection
    .selectFrom("summed_days")
    .select(["day", "touched", "summed", "summed_at"])
    .where("day", ">", from - dayMs)
    .where("day", "<", to)
    .where("summed_at", ">", 0)
    .orderBy("day")
    .execute();
  return new Map(rows.map(({ day, ...counter }) => [day, summedTimeOf(counter)]));
}

/** Summed hours in a time. */
export async function summedHours(connection: Connection, { from, to }: TimeSpan): Promise<SummedStarts> {
  const rows = await connection
    .selectFrom("summed_hours")
    .select(["hour", "touched", "summed", "summed_at"])
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .where("summed_at", ">", 0)
    .orderBy("hour")
    .execute();
  return new Map(rows.map(({ hour, ...counter }) => [hour, summedTimeOf(counter)]));
}

type Counter = Pick<Row<"summed_hours">, "touched" | "summed" | "summed_at">;

function summedTimeOf({ touched, summed, summed_at }: Counter): SummedTime {
  return { version: `${touched} ${summed_at}`, isSummed: touched === summed };
}

/** Times with up-to-date sums of days and of hours, as runs without a gap, in order. */
export interface SummedTimes {
  readonly days: readonly TimeSpan[];
  readonly hours: readonly TimeSpan[];
}

interface SummedTimesOptions {
  /** If they were read before. */
  readonly days?: SummedStarts;
  readonly hours?: SummedStarts;
  /** At most the longest few runs. */
  readonly runsMax?: number;
}

export async function summedTimes(
  connection: Connection,
  span: TimeSpan,
  { days, hours, runsMax = unionRunsMax }: SummedTimesOptions = {},
): Promise<SummedTimes> {
  return {
    days: longest(runsOf(upToDate(days ?? (await summedDays(connection, span))), dayMs, span), runsMax),
    hours: longest(runsOf(upToDate(hours ?? (await summedHours(connection, span))), hourMs, span), runsMax),
  };
}

function upToDate(summed: SummedStarts): readonly number[] {
  return [...summed].flatMap(([start, { isSummed }]) => (isSummed ? [start] : []));
}

function runsOf(starts: readonly number[], lengthMs: number, { from, to }: TimeSpan): readonly TimeSpan[] {
  const runs: { from: number; to: number }[] = [];
  for (const start of starts) {
    if (start < from || start > to - lengthMs) continue;
    const last = runs.at(-1);
    if (last?.to === start) last.to += lengthMs;
    else runs.push({ from: start, to: start + lengthMs });
  }
  return runs;
}

function longest(runs: readonly TimeSpan[], max: number): readonly TimeSpan[] {
  const first = runs.toSorted((a, b) => b.to - b.from - (a.to - a.from)).slice(0, max);
  return first.sort((a, b) => a.from - b.from);
}

/** The grain with the fewest rows that has these columns; null: none has. */
function grainFor(grains: readonly Grain[], columns: readonly ScopeColumn[]): Grain | null {
  return grains.find(({ scope }) => columns.every((column) => scope.includes(column))) ?? null;
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
  /** From `summedTimes`, in the same snapshot. */
  readonly summed: SummedTimes;
  /** Scope columns to filter or group by. */
  readonly needed: readonly ScopeColumn[];
  /** Columns to read, including `hour` if needed. */
  readonly columns: readonly RollupColumn[];
  /** Filters other than the time. */
  readonly filter?: (rows: Rollups) => Rollups;
}

/**
 * Rollups of a time as one table: sums of days or hours where they are up to date, single rollups elsewhere. A day's row has its first
 * hour.
 */
export function rollupsWithin(
  connection: Connection,
  { name }: Flavour,
  { span, isPast = false, past = null, summed, needed, columns, filter = (rows) => rows }: RollupQuery,
): Rollups {
  const within = (rows: unknown, { from, to }: TimeSpan) =>
    filter((rows as Rollups).where("hour", ">=", from).where("hour", "<", to));
  const folded = sql<object>`only usage_rollups`.as("usage_rollups");
  const all = connection.selectFrom(isPast && name === "postgres" ? folded : "usage_rollups");
  const parts: Rollups[] = [];
  // Times that are read from sums or separately, in order.
  let covered = past === null ? [] : [past];
  for (const { table, grains, runs, lengthMs } of levelsOf(summed)) {
    const grain = grainFor(grains, needed);
    if (grain === null) continue;
    const sums = connection.selectFrom(sql<object>`${sql.table(table)}`.as("usage_rollups"));
    const rows = sums.where(sql`grain`, "=", sql.lit(grain.name));
    const gaps = gapsBetween(covered, span);
    const found = gaps.flatMap((gap) => runs.flatMap((run) => wholePart(run, gap, lengthMs)));
    parts.push(...found.map((run) => within(rows, run)));
    covered = [...covered, ...found].sort((a, b) => a.from - b.from);
  }
  const hasSums = parts.length > 0;
  parts.push(...gapsBetween(covered, span).map((gap) => within(all, gap)));
  if (name === "postgres" && !isPast) {
    const tail = connection.selectFrom(sql<object>`usage_rollups_tail`.as("usage_rollups"));
    parts.push(...joined(covered).map((run) => within(tail, run)));
  }
  if (parts.length === 0) parts.push(within(all, { from: span.from, to: span.from }));
  if (!hasSums && parts.length === 1) return parts[0] as Rollups;
  const read = [...new Set(columns)];
  const [first, ...more] = parts.map((rows) => rows.select(read));
  let union = first as unknown as SelectQueryBuilder<Tables, "usage_rollups", Row<"usage_rollups">>;
  for (const rows of more) union = union.unionAll(rows as never);
  return connection.selectFrom(union.as("usage_rollups")) as unknown as Rollups;
}

function levelsOf({ days, hours }: SummedTimes) {
  return [
    { table: "usage_days", grains: dayGrains, runs: days, lengthMs: dayMs },
    { table: "usage_hours", grains: hourGrains, runs: hours, lengthMs: hourMs },
  ] as const;
}

/** The whole days or hours of a run that are in a time. */
function wholePart(run: TimeSpan, span: TimeSpan, lengthMs: number): readonly TimeSpan[] {
  const from = Math.max(run.from, Math.ceil(span.from / lengthMs) * lengthMs);
  const to = Math.min(run.to, Math.floor(span.to / lengthMs) * lengthMs);
  return from < to ? [{ from, to }] : [];
}

/** Adjacent times as one. */
function joined(times: readonly TimeSpan[]): readonly TimeSpan[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of times) {
    const last = all.at(-1);
    if (last?.to === from) last.to = to;
    else all.push({ from, to });
  }
  return all;
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
