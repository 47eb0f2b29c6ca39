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
import type { PastTime } from "./kept-sums.ts";
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
  within(part: RowPart, by: RowGroups): SelectQueryBuilder<Tables, "usage_rollups", object>;
  /** The known days of a time: what is there to be kept of what was read. null: none. */
  past(span: TimeSpan, by: Pick<RowGroups, "column" | "stepMs">): PastTime | null;
  /** What is left of a time when its past is read apart. */
  rest(span: TimeSpan, past: PastTime | null): readonly RowPart[];
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
  const versionOf = (day: number) => knownByDay.get(day)?.version ?? "";
  return {
    ...times,
    question: questionOf(filter),
    past(span, { column, stepMs }) {
      // Whose a key is changes without a change of its hours.
      if (filter.seenPerson !== undefined && (column === "key_id" || filter.keyId !== undefined)) return null;
      // Of people the entries tell too, which retention takes: only summed days are kept.
      const summedDays = grainFor(neededForPeople(needed(column))) === null ? [] : daysOf(stepMs);
      const run = asksPeople
        ? summedDays.flatMap((days) => cutToDays(days, span)).at(-1)
        : cutTo(lastRun([...knownByDay.keys()]), span);
      if (run === undefined) return null;
      const first = run.from - (run.from % dayMs);
      const days = Array.from({ length: Math.ceil((run.to - first) / dayMs) }, (_, n) => first + n * dayMs);
      return { ...run, version: days.map(versionOf).join() };
    },
    rest(span, past) {
      // One statement more costs PostgreSQL a plan, and it alone has sums that are in no day yet.
      if (past === null || flavour.name === "postgres") return [{ span, past }];
      return gapsBetween([past], span).map((gap) => ({ span: gap }));
    },
    stepMs: Math.max(filter.stepMs, hourMs),
    firstSliceMs: firstSliceMs(context, dayMs),
    byHour: true,
    within(part, { column, stepMs, summed }) {
      return rollupsWithin(connection, flavour, {
        ...part,
        days: daysOf(stepMs),
        needed: needed(column),
        columns: ["hour", ...(column === null ? [] : [column]), ...(summed ?? [...rollupSums, ...rollupSketches])],
        ...(people === undefined ? {} : { people }),
        choose: (rows) => chosen(rows, filter, { hasKeyIndex: true }),
      });
    },
    covered: (span) => coveredHours(context, span),
  };
}

function entryRows(context: ReportContext, filter: UsageFilter): UsageRows {
  return {
    ...timesOf(filter, filter.stepMs),
    question: questionOf(filter),
    past: () => null,
    rest: (span) => [{ span }],
    stepMs: filter.stepMs,
    firstSliceMs: firstSliceMs(context, hourMs / 12),
    byHour: false,
    within({ span }) {
      const counted = context.connection.selectFrom(countedEntries(context.connection).as("usage_rollups"));
      const inTime = (counted as unknown as Rollups).where("hour", ">=", span.from).where("hour", "<", span.to);
      return chosen(inTime, filter, { hasKeyIndex: false });
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

/** The days up to the last of them that follow each other without a gap. */
function lastRun(days: readonly number[]): TimeSpan {
  const to = (days.at(-1) ?? -dayMs) + dayMs;
  let from = to;
  for (let n = days.length - 1; days[n] === from - dayMs; n--) from -= dayMs;
  return { from, to };
}

function cutTo(run: TimeSpan, span: TimeSpan): TimeSpan | undefined {
  const [from, to] = [Math.max(run.from, span.from), Math.min(run.to, span.to)];
  return from < to ? { from, to } : undefined;
}

function questionOf({ workspaceId, groupId, keyId, personId, seenPerson, model, provider }: UsageFilter): string {
  const words = [workspaceId, groupId, keyId, personId, seenPerson, model, provider];
  return JSON.stringify(words.map((word) => word ?? null));
}

function filterColumns({ workspaceId, groupId, keyId, model, provider }: UsageFilter): readonly ScopeColumn[] {
  const given = { workspace_id: workspaceId ?? undefined, group_id: groupId, key_id: keyId, model, provider };
  return Object.entries(given).flatMap(([column, value]) => (value === undefined ? [] : [column as ScopeColumn]));
}

function chosen(rows: Rollups, filter: UsageFilter, { hasKeyIndex }: { readonly hasKeyIndex: boolean }): Rollups {
  const { workspaceId, keyId, groupId, personId, model, provider } = filter;
  const given = { group_id: groupId, key_id: keyId, person_id: personId, model, provider };
  const query = rows.where((eb) => {
    const equal = equalsGiven<Row<"usage_rollups">>(given);
    if (workspaceId === null) return eb.and([...equal]);
    // The index of a key leads to fewer rows than that of its workspace.
    const apart = keyId !== undefined && hasKeyIndex;
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
  if (workspaceId !== null) entries = entries.where("workspace_id", "=", workspaceId);
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
