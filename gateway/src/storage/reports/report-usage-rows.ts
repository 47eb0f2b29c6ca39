import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import { sketchOf } from "../database/latency-sketch.ts";
import type { LatencyColumn, Tables } from "../database/schema.ts";
import { countedEntries } from "../ledger/ledger-counted.ts";
import {
  cutToDays,
  daysKnow,
  gapsBetween,
  type KnownDay,
  knownDays,
  type Rollups,
  type RowPart,
  rollupsWithin,
  runsOf,
  type TimeSpan,
} from "../ledger/ledger-day-reading.ts";
import { dayMs, type ScopeColumn } from "../ledger/ledger-days.ts";
import { peopleKnow, peopleTimes, peopleWithin } from "../ledger/ledger-people-reading.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { hourMs, rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import type { KnownTime } from "./kept-days.ts";
import type { ReportContext } from "./report-desk.ts";
import { shortSketch } from "./report-figures.ts";
import { equalsWithoutIndex } from "./report-search.ts";
import { firstSliceMs } from "./report-slices.ts";
import { coveredHours } from "./report-sums.ts";

/** What figures are summed from: rollups, or the entries themselves where steps are shorter than an hour. */
export interface UsageRows {
  readonly stepMs: number;
  readonly span: TimeSpan;
  /** The same length of time just before. */
  readonly before: TimeSpan;
  /** How much of it the first statement reads. */
  readonly firstSliceMs: number;
  /** Whether there is one moment in an hour, the hour itself, in whose order the rows lie. */
  readonly byHour: boolean;
  /** `column`: what rows are grouped by or picked by, besides the filter; `stepMs` null: not by time. */
  within(span: TimeSpan, by: RowGroups): SelectQueryBuilder<Tables, "usage_rollups", object>;
  /** The known days of a time, whole or in part, in order: what is there to be kept of what was read. */
  known(span: TimeSpan, by: Pick<RowGroups, "column" | "stepMs">): readonly KnownTime[];
  /** What is left of a time when these are read apart. */
  rest(span: TimeSpan, known: readonly KnownTime[]): readonly (readonly [part: RowPart, span: TimeSpan])[];
  /** What is asked, but for the time. */
  readonly question: string;
  /** What a group of rows says of how long it took, as one text, and that text as a sketch. */
  times(column: LatencyColumn): RawBuilder<string | null>;
  sketch(times: string): string;
  /** Cut down to where there are any. */
  covered(span: TimeSpan): Promise<TimeSpan>;
}

/** What rows are grouped or picked by. Of a row that is nobody's the person is empty. */
export type UsageColumn = ScopeColumn | "person_id";

interface RowGroups {
  readonly column: UsageColumn | null;
  readonly stepMs: number | null;
  /** What is summed; all when left out. What nobody sums is not carried through the statement. */
  readonly summed?: readonly (typeof rollupSums)[number][];
  readonly part?: RowPart;
}

export async function usageRows(context: ReportContext, filter: UsageFilter, entriesMax: number): Promise<UsageRows> {
  const entries = entryRows(context, filter);
  const answerable = filter.stepMs < hourMs && (await isReadable(context, filter, entries, entriesMax));
  if (answerable) return entries;
  const times = timesOf(filter, hourMs);
  const whole = { from: times.before.from, to: times.span.to };
  const known = await knownDays(context.connection, whole);
  const days = runsOf(known, whole);
  const people = asksPeople(filter) ? await peopleTimes(context.connection, days, whole) : { days, shared: false };
  return rollupRows(context, filter, { times, ...people, known });
}

function asksPeople({ by, personId }: UsageFilter): boolean {
  return by === "person" || personId !== undefined;
}

interface RollupTimes {
  readonly times: Pick<UsageRows, "span" | "before">;
  readonly days: readonly TimeSpan[];
  readonly known: ReadonlyMap<number, KnownDay>;
  /** Whether there is an hour in which a key changed hands, and people are asked about. */
  readonly shared: boolean;
}

function rollupRows(
  context: ReportContext,
  filter: UsageFilter,
  { times, days, known, shared }: RollupTimes,
): UsageRows {
  const needed = (column: UsageColumn | null) => [
    ...filterColumns(filter),
    ...(column === null || column === "person_id" ? [] : [column]),
  ];
  // Days have no steps within them.
  const daysOf = (stepMs: number | null) => (stepMs !== null && stepMs % dayMs !== 0 ? [] : days);
  const runsIn = (span: TimeSpan, { column, stepMs }: Pick<RowGroups, "column" | "stepMs">) => {
    const isKnown = asksPeople(filter) ? peopleKnow(needed(column)) : daysKnow(needed(column));
    return isKnown ? daysOf(stepMs).flatMap((run) => cutToDays(run, span)) : [];
  };
  // Of people the entries tell too, which retention takes.
  const hoursIn = (span: TimeSpan, runs: readonly TimeSpan[]): readonly TimeSpan[] =>
    asksPeople(filter)
      ? []
      : [...known.keys()]
          .map((day) => ({ from: Math.max(day, span.from), to: Math.min(day + dayMs, span.to) }))
          .filter(({ from, to }) => from < to && !runs.some((run) => run.from <= from && from < run.to));
  return {
    ...times,
    question: questionOf(filter),
    known(span, by) {
      // Whose a key is changes without a change of its hours.
      if (filter.seenPerson !== undefined && (by.column === "key_id" || filter.keyId !== undefined)) return [];
      const runs = runsIn(span, by);
      const days = runs.flatMap(({ from, to }) =>
        Array.from({ length: (to - from) / dayMs }, (_, n) => ({ from: from + n * dayMs, to: from + (n + 1) * dayMs })),
      );
      return [...days, ...hoursIn(span, runs)]
        .sort((a, b) => a.from - b.from)
        .map((time) => ({ ...time, version: known.get(time.from - (time.from % dayMs))?.version ?? "" }));
    },
    rest(span, read) {
      if (read.length === 0) return [["all", span]];
      // One statement more costs PostgreSQL a plan, and it alone has sums that are in no day yet.
      if (context.flavour.name === "postgres") return [["rest", span]];
      return gapsBetween(read, span).map((gap) => ["rest", gap] as const);
    },
    stepMs: Math.max(filter.stepMs, hourMs),
    firstSliceMs: firstSliceMs(context, 24 * hourMs),
    byHour: true,
    within(span, { column, stepMs, summed, part = "all" }) {
      const ask = {
        span,
        part,
        days: daysOf(stepMs),
        hours: part === "all" ? [] : joinedTimes(hoursIn(span, runsIn(span, { column, stepMs }))),
        needed: needed(column),
        columns: [
          "hour" as const,
          ...(column === null ? [] : [column]),
          ...(summed ?? [...rollupSums, ...rollupSketches]),
        ],
        choose: (rows: Rollups) => chosen(rows, filter),
      };
      if (!asksPeople(filter)) return rollupsWithin(context.connection, context.flavour, ask);
      return peopleWithin(context.connection, context.flavour, { ...ask, shared });
    },
    times: (column) => joined(context, column, ""),
    sketch: shortSketch,
    covered: (span) => coveredHours(context, span),
  };
}

function entryRows(context: ReportContext, filter: UsageFilter): UsageRows {
  return {
    ...timesOf(filter, filter.stepMs),
    question: questionOf(filter),
    known: () => [],
    rest: (span) => [["all", span]],
    stepMs: filter.stepMs,
    firstSliceMs: firstSliceMs(context, hourMs / 12),
    byHour: false,
    within(span) {
      const counted = context.connection.selectFrom(countedEntries(context.connection).as("usage_rollups"));
      const inTime = (counted as unknown as Rollups).where("hour", ">=", span.from).where("hour", "<", span.to);
      return chosen(inTime, filter);
    },
    times: (column) => joined(context, column, " "),
    sketch: (times) => shortSketch(times.split(" ").map(sketchOfText).join("")),
    async covered(span) {
      const hours = await coveredHours(context, span);
      return { from: Math.max(span.from, hours.from), to: Math.min(span.to, hours.to) };
    },
  };
}

function joined({ flavour }: ReportContext, column: LatencyColumn, between: "" | " "): RawBuilder<string | null> {
  const [values, mark] = [sql.ref(column), sql.lit(between)];
  return flavour.name === "sqlite" ? sql`group_concat(${values}, ${mark})` : sql`string_agg(${values}::text, ${mark})`;
}

function sketchOfText(ms: string): string {
  return ms === "" ? "" : sketchOf(Number(ms));
}

/** A time is widened to whole grains. */
function timesOf({ from, to }: UsageFilter, grainMs: number): Pick<UsageRows, "span" | "before"> {
  const span = { from: Math.floor(from / grainMs) * grainMs, to: Math.ceil(to / grainMs) * grainMs };
  return { span, before: { from: Math.max(0, span.from - (span.to - span.from)), to: span.from } };
}

/** The same time in as few pieces as there are. */
export function joinedTimes(times: readonly TimeSpan[]): readonly TimeSpan[] {
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of times) {
    const last = joined.at(-1);
    if (last?.to === from) last.to = to;
    else joined.push({ from, to });
  }
  return joined;
}

function questionOf({ workspaceId, groupId, keyId, personId, seenPerson, model, provider }: UsageFilter): string {
  const words = [workspaceId, groupId, keyId, personId, seenPerson, model, provider];
  return JSON.stringify(words.map((word) => word ?? null));
}

function filterColumns({ workspaceId, groupId, keyId, model, provider }: UsageFilter): readonly ScopeColumn[] {
  const columns: ScopeColumn[] = [];
  if (workspaceId !== null) columns.push("workspace_id");
  if (groupId !== undefined) columns.push("group_id");
  if (keyId !== undefined) columns.push("key_id");
  if (model !== undefined) columns.push("model");
  if (provider !== undefined) columns.push("provider");
  return columns;
}

function chosen(rows: Rollups, filter: UsageFilter): Rollups {
  let query = rows;
  const { workspaceId, keyId } = filter;
  if (workspaceId !== null) {
    // The index of a key leads to fewer entries than that of its workspace.
    query = query.where((eb) =>
      keyId === undefined
        ? eb("workspace_id", "=", workspaceId)
        : equalsWithoutIndex(eb.ref("workspace_id"), workspaceId),
    );
  }
  if (filter.groupId !== undefined) query = query.where("group_id", "=", filter.groupId);
  if (keyId !== undefined) query = query.where("key_id", "=", keyId);
  if (filter.personId !== undefined) query = query.where("person_id", "=", filter.personId);
  // Of a key that is somebody else's there is nothing to see.
  if (keyId !== undefined) query = withoutOthers(query, "key_id", filter);
  if (filter.model !== undefined) query = query.where("model", "=", filter.model);
  if (filter.provider !== undefined) query = query.where("provider", "=", filter.provider);
  return query;
}

/** Whether the entries of both times are still there, and few enough: an index alone counts them. */
async function isReadable(
  { connection }: ReportContext,
  { workspaceId, keyId }: UsageFilter,
  { before, span }: UsageRows,
  entriesMax: number,
): Promise<boolean> {
  if (before.from < (await prunedBefore(connection))) return false;
  let entries = connection.selectFrom("ledger_entries").select("at");
  entries = entries.where("at", ">=", before.from).where("at", "<", span.to);
  if (keyId !== undefined) entries = entries.where("key_id", "=", keyId);
  else if (workspaceId !== null) entries = entries.where("workspace_id", "=", workspaceId);
  const { count } = await connection
    .selectFrom(entries.limit(entriesMax + 1).as("entries"))
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count <= entriesMax;
}

/** Without the people, or the keys, that who asks may not tell apart. */
export function withoutOthers(query: Rollups, column: string | null, { seenPerson }: UsageFilter): Rollups {
  if (seenPerson === undefined) return query;
  if (column === "person_id") return query.where(sql<string>`person_id`, "in", ["", seenPerson]);
  if (column !== "key_id") return query;
  return query.where((eb) =>
    eb(
      "key_id",
      "not in",
      eb
        .selectFrom("api_keys")
        .select("api_keys.id")
        .where((key) => key(key.fn.coalesce("api_keys.person_id", "api_keys.owner_id"), "!=", seenPerson)),
    ),
  );
}
