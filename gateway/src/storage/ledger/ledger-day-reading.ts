import { type SelectQueryBuilder, sql } from "kysely";
import type { Connection, Flavour } from "../database/database.ts";
import type { Row, Tables } from "../database/schema.ts";
import { type DayGrain, dayGrains, dayMs, type ScopeColumn } from "./ledger-days.ts";
import {
  countedEntries,
  hourMs,
  rollupScope,
  type rollupSketches,
  type rollupSums,
  severalPeople,
} from "./ledger-rollup.ts";

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
export function grainFor(columns: readonly ScopeColumn[]): DayGrain | null {
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
  /**
   * For questions about people, from `personSumTimes`. Rows then have a `person_id`, empty if they belong to no single person. Hours in
   * which a key changed hands are read from entries, which have no sketches, so percentiles omit those calls.
   */
  readonly people?: Pick<PersonSumTimes, "shared">;
  /** Filters other than the time. */
  readonly filter?: (rows: Rollups) => Rollups;
}

/** Only sums by key know the person. */
export function neededForPeople(columns: readonly ScopeColumn[]): readonly ScopeColumn[] {
  return [...columns, "key_id"];
}

/** Rollups of a time as one table: sums of days where they are up to date, of hours elsewhere. A day's row has its first hour. */
export function rollupsWithin(
  connection: Connection,
  { name }: Flavour,
  { span, isPast = false, past = null, days, needed, columns, people, filter = (rows) => rows }: RollupQuery,
): Rollups {
  const grain = grainFor(people === undefined ? needed : neededForPeople(needed));
  const spans = past === null ? [span] : gapsBetween([past], span);
  const runs = grain === null ? [] : spans.flatMap((each) => days.flatMap((run) => cutToDays(run, each)));
  const gaps = gapsBetween(past === null ? runs : [...runs, past].sort((a, b) => a.from - b.from), span);
  const within = (rows: unknown, { from, to }: TimeSpan) =>
    filter((rows as Rollups).where("hour", ">=", from).where("hour", "<", to));
  const folded = sql<object>`only usage_rollups`.as("usage_rollups");
  const all = connection.selectFrom(isPast && name === "postgres" ? folded : "usage_rollups");
  const every = people === undefined ? all : onePersonsRollups(all as Rollups, name, people.shared);
  const parts = gaps.map((gap) => within(every, gap));
  for (const run of runs) {
    const summed = connection.selectFrom("usage_days as usage_rollups");
    parts.push(within(summed.where(sql`grain`, "=", sql.lit(grain?.name)), run));
  }
  if (name === "postgres" && !isPast) {
    const tail = connection.selectFrom(sql<object>`usage_rollups_tail`.as("usage_rollups"));
    parts.push(...[...runs, ...(past === null ? [] : [past])].map((run) => within(tail, run)));
  }
  if (people?.shared === true && !isPast) {
    parts.push(within(connection.selectFrom(sharedEntries(connection, span).as("usage_rollups")), span));
  }
  if (parts.length === 0) parts.push(within(every, { from: span.from, to: span.from }));
  if (people === undefined && runs.length === 0 && parts.length === 1) return parts[0] as Rollups;
  const read = [...new Set(columns)].filter((column) => people === undefined || column !== "person_id");
  const person = people === undefined ? [] : [sql<string>`coalesce(person_id, '')`.as("person_id")];
  const [first, ...more] = parts.map((rows) => rows.select([...read, ...person]));
  let union = first as unknown as SelectQueryBuilder<Tables, "usage_rollups", Row<"usage_rollups">>;
  for (const rows of more) union = union.unionAll(rows as never);
  return connection.selectFrom(union.as("usage_rollups")) as unknown as Rollups;
}

/** The whole days of a run that are in a time. */
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

interface PersonSumTimes {
  /** The given days on which no key changed its owner. */
  readonly days: readonly TimeSpan[];
  /** Matches if a key changed its owner within an hour. */
  readonly shared: boolean;
}

/** The sources of sums by person, in the same snapshot. A partial index has the few rows of several people. */
export async function personSumTimes(
  connection: Connection,
  days: readonly TimeSpan[],
  { from, to }: TimeSpan,
): Promise<PersonSumTimes> {
  const shared = (table: "usage_days" | "usage_rollups") =>
    connection
      .selectFrom(table)
      .select("hour")
      .where("person_id", "=", sql.lit(severalPeople))
      .where("hour", ">=", from)
      .where("hour", "<", to);
  const sharedDays = await shared("usage_days").distinct().orderBy("hour").execute();
  const sharedHour = await shared("usage_rollups").limit(1).executeTakeFirst();
  const cuts = sharedDays.map(({ hour }) => ({ from: hour, to: hour + dayMs }));
  return {
    days: days.flatMap((run) =>
      gapsBetween(
        cuts.filter((cut) => cut.from >= run.from && cut.from < run.to),
        run,
      ),
    ),
    shared: sharedHour !== undefined,
  };
}

function onePersonsRollups(
  rollups: SelectQueryBuilder<Tables, "usage_rollups", object>,
  name: Flavour["name"],
  shared: boolean,
) {
  const rows = rollups.where(sql<boolean>`person_id is distinct from ${sql.lit(severalPeople)}`);
  return shared && name === "postgres" ? rows.where(unlessShared) : rows;
}

const sameScope = rollupScope.map((column) => `shared.${column} = usage_rollups.${column}`).join(" and ");

/** PostgreSQL: excludes unfolded sums that belong to a rollup of several people, which are read from entries. */
const unlessShared = sql<boolean>`not exists (
  select 1 from only usage_rollups as shared where shared.person_id = ${sql.lit(severalPeople)} and ${sql.raw(sameScope)})`;

/** Entries of rollups of several people, without sketches. `hour` is the entry's time. */
function sharedEntries(connection: Connection, { from, to }: TimeSpan) {
  const shared = connection
    .selectFrom("usage_rollups")
    .select(rollupScope.map((column) => sql`${sql.ref(column)}`.as(`shared_${column}`)))
    .where("person_id", "=", sql.lit(severalPeople))
    .where("hour", ">=", from)
    .where("hour", "<", to);
  const same = rollupScope.slice(1).map((column) => `${column} = shared_${column}`);
  const within = `at >= shared_hour and at < shared_hour + ${hourMs}`;
  return countedEntries(connection, { times: false }).innerJoin(shared.as("shared"), (join) =>
    join.on(sql<boolean>`${sql.raw([...same, within].join(" and "))}`),
  );
}
