import { type SelectQueryBuilder, sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import { equalsGiven, equalsWithoutIndex } from "../database/conditions.ts";
import type { Row, Tables } from "../database/schema.ts";
import {
  cutToDays,
  gapsBetween,
  grainFor,
  knownDays,
  neededForPeople,
  peopleTimes,
  type Rollups,
  type RowPart,
  rollupsWithin,
  runsOf,
  type TimeSpan,
} from "../ledger/ledger-day-reading.ts";
import { dayMs, type ScopeColumn } from "../ledger/ledger-days.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { countedEntries, hourMs, rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import type { KnownTime } from "./kept-sums.ts";
import { coveredHours, firstSliceMs, type ReportContext } from "./report-context.ts";

/** What figures are summed from: rollups, or the entries themselves where steps are shorter than an hour. */
export interface UsageRows {
  readonly stepMs: number;
  readonly span: TimeSpan;
  /** The same length of time just before. */
  readonly before: TimeSpan;
  /** How much of it the first statement reads. */
  readonly firstSliceMs: number;
  /**
   * Whether these are rollups: there is one moment in an hour, the hour itself, in whose order the rows lie. Entries have the time that
   * they would count, in milliseconds, in the place of each sketch.
   */
  readonly byHour: boolean;
  /** `column`: what rows are grouped by or picked by, besides the filter; `stepMs` null: not by time. */
  within(span: TimeSpan, by: RowGroups): SelectQueryBuilder<Tables, "usage_rollups", object>;
  /** The known days of a time, whole or in part, in order: what is there to be kept of what was read. */
  known(span: TimeSpan, by: Pick<RowGroups, "column" | "stepMs">): readonly KnownTime[];
  /** What is left of a time when these are read apart. */
  rest(span: TimeSpan, known: readonly KnownTime[]): readonly (readonly [part: RowPart, span: TimeSpan])[];
  /** What is asked, but for the time. */
  readonly question: string;
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
  return answerable ? entries : await rollupRows(context, filter);
}

async function rollupRows(context: ReportContext, filter: UsageFilter): Promise<UsageRows> {
  const { connection, flavour } = context;
  const times = timesOf(filter, hourMs);
  const whole = { from: times.before.from, to: times.span.to };
  const knownByDay = await knownDays(connection, whole);
  const asksPeople = filter.by === "person" || filter.personId !== undefined;
  const summed = runsOf(knownByDay, whole);
  const people = asksPeople ? await peopleTimes(connection, summed, whole) : undefined;
  const needed = (column: UsageColumn | null) => [
    ...filterColumns(filter),
    ...(column === null || column === "person_id" ? [] : [column]),
  ];
  // Days have no steps within them.
  const daysOf = (stepMs: number | null) => (stepMs !== null && stepMs % dayMs !== 0 ? [] : (people?.days ?? summed));
  const runsIn = (span: TimeSpan, { column, stepMs }: Pick<RowGroups, "column" | "stepMs">) => {
    const columns = needed(column);
    const isKnown = grainFor(asksPeople ? neededForPeople(columns) : columns) !== null;
    return isKnown ? daysOf(stepMs).flatMap((run) => cutToDays(run, span)) : [];
  };
  // Of people the entries tell too, which retention takes.
  const hoursIn = (span: TimeSpan, runs: readonly TimeSpan[]): readonly TimeSpan[] =>
    asksPeople
      ? []
      : [...knownByDay.keys()]
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
        .map((time) => ({ ...time, version: knownByDay.get(time.from - (time.from % dayMs))?.version ?? "" }));
    },
    rest(span, read) {
      if (read.length === 0) return [["all", span]];
      // One statement more costs PostgreSQL a plan, and it alone has sums that are in no day yet.
      if (flavour.name === "postgres") return [["rest", span]];
      return gapsBetween(read, span).map((gap) => ["rest", gap] as const);
    },
    stepMs: Math.max(filter.stepMs, hourMs),
    firstSliceMs: firstSliceMs(context, dayMs),
    byHour: true,
    within(span, { column, stepMs, summed, part = "all" }) {
      return rollupsWithin(connection, flavour, {
        span,
        part,
        days: daysOf(stepMs),
        hours: part === "all" ? [] : joinedTimes(hoursIn(span, runsIn(span, { column, stepMs }))),
        needed: needed(column),
        columns: ["hour", ...(column === null ? [] : [column]), ...(summed ?? [...rollupSums, ...rollupSketches])],
        ...(people === undefined ? {} : { people }),
        choose: (rows) => chosen(rows, filter),
      });
    },
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
    async covered(span) {
      const hours = await coveredHours(context, span);
      return { from: Math.max(span.from, hours.from), to: Math.min(span.to, hours.to) };
    },
  };
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
  const given = { workspace_id: workspaceId ?? undefined, group_id: groupId, key_id: keyId, model, provider };
  return Object.entries(given).flatMap(([column, value]) => (value === undefined ? [] : [column as ScopeColumn]));
}

function chosen(rows: Rollups, filter: UsageFilter): Rollups {
  const { workspaceId, keyId, groupId, personId, model, provider } = filter;
  const given = { group_id: groupId, key_id: keyId, person_id: personId, model, provider };
  const query = rows.where((eb) => {
    const equal = equalsGiven<Row<"usage_rollups">>(given);
    if (workspaceId === null) return eb.and([...equal]);
    // The index of a key leads to fewer entries than that of its workspace.
    const apart = keyId !== undefined;
    const column = eb.ref("workspace_id");
    return eb.and([apart ? equalsWithoutIndex(column, workspaceId) : eb(column, "=", workspaceId), ...equal]);
  });
  // Of a key that is somebody else's there is nothing to see.
  return keyId === undefined ? query : withoutOthers(query, "key_id", filter);
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
