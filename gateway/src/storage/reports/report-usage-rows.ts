import { type SelectQueryBuilder, sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import { equalsGiven, equalsWithoutIndex } from "../database/conditions.ts";
import type { Row, Tables } from "../database/schema.ts";
import {
  cutToDays,
  gapsBetween,
  grainFor,
  neededForPeople,
  personSumTimes,
  type Rollups,
  type RowPart,
  rollupsWithin,
  runsOf,
  summedDays,
  type TimeSpan,
} from "../ledger/ledger-day-reading.ts";
import { dayMs, type ScopeColumn } from "../ledger/ledger-days.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { countedEntries, hourMs, rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import type { PastTime } from "./past-sums.ts";
import { firstSliceMs, hoursWithData, type ReportContext } from "./report-context.ts";

/** The source of figures: rollups, or entries for steps shorter than an hour. */
export interface UsageRows {
  readonly stepMs: number;
  readonly span: TimeSpan;
  /** The preceding time of the same length. */
  readonly before: TimeSpan;
  readonly firstSliceMs: number;
  /** Rollups, ordered by hour. Otherwise entries, with durations in milliseconds instead of sketches. */
  readonly byHour: boolean;
  /** `column`: to group or filter by, in addition to the filter. `stepMs` null: not by time. */
  within(part: RowPart, by: RowGroups): SelectQueryBuilder<Tables, "usage_rollups", object>;
  /** The past days of a time that may be cached; null: none. */
  past(span: TimeSpan, by: Pick<RowGroups, "column" | "stepMs">): PastTime | null;
  /** The parts that the cached past does not cover. */
  restOf(span: TimeSpan, past: PastTime | null): readonly RowPart[];
  /** Cache key, without the time. */
  readonly question: string;
  /** Cut to the time that has data. */
  clipToData(span: TimeSpan): Promise<TimeSpan>;
}

/** A row that belongs to no single person has an empty `person_id`. */
export type UsageColumn = ScopeColumn | "person_id";

interface RowGroups {
  readonly column: UsageColumn | null;
  readonly stepMs: number | null;
  /** Default: all. Other columns are not carried through the statement. */
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
  const summedByDay = await summedDays(connection, whole);
  const asksPeople = filter.by === "person" || filter.personId !== undefined;
  const summed = runsOf(summedByDay, whole);
  const people = asksPeople ? await personSumTimes(connection, summed, whole) : undefined;
  const needed = (column: UsageColumn | null) => [
    ...filterColumns(filter),
    ...(column === null || column === "person_id" ? [] : [column]),
  ];
  // Sums of days cannot be split into smaller steps.
  const daysOf = (stepMs: number | null) => (stepMs !== null && stepMs % dayMs !== 0 ? [] : (people?.days ?? summed));
  const versionOf = (day: number) => summedByDay.get(day)?.version ?? "";
  return {
    ...times,
    question: cacheKeyOf(filter),
    past(span, { column, stepMs }) {
      // The owner of a key may change without its hours changing.
      if (filter.visiblePerson !== undefined && (column === "key_id" || filter.keyId !== undefined)) return null;
      // Sums by person also use entries, which retention removes; only summed days may be cached.
      const summedDays = grainFor(neededForPeople(needed(column))) === null ? [] : daysOf(stepMs);
      const run = asksPeople
        ? summedDays.flatMap((days) => cutToDays(days, span)).at(-1)
        : cutTo(lastRun([...summedByDay.keys()]), span);
      if (run === undefined) return null;
      const first = run.from - (run.from % dayMs);
      const days = Array.from({ length: Math.ceil((run.to - first) / dayMs) }, (_, n) => first + n * dayMs);
      return { ...run, version: days.map(versionOf).join() };
    },
    restOf(span, past) {
      // A second statement costs PostgreSQL a plan, and unfolded sums have to be read anyway.
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
        filter: (rows) => chosen(rows, filter, { hasKeyIndex: true }),
      });
    },
    clipToData: (span) => hoursWithData(context, span),
  };
}

function entryRows(context: ReportContext, filter: UsageFilter): UsageRows {
  return {
    ...timesOf(filter, filter.stepMs),
    question: cacheKeyOf(filter),
    past: () => null,
    restOf: (span) => [{ span }],
    stepMs: filter.stepMs,
    firstSliceMs: firstSliceMs(context, hourMs / 12),
    byHour: false,
    within({ span }) {
      const counted = context.connection.selectFrom(countedEntries(context.connection).as("usage_rollups"));
      const inTime = (counted as unknown as Rollups).where("hour", ">=", span.from).where("hour", "<", span.to);
      return chosen(inTime, filter, { hasKeyIndex: false });
    },
    async clipToData(span) {
      const hours = await hoursWithData(context, span);
      return { from: Math.max(span.from, hours.from), to: Math.min(span.to, hours.to) };
    },
  };
}

/** Widens a time to whole grains. */
function timesOf({ from, to }: UsageFilter, grainMs: number): Pick<UsageRows, "span" | "before"> {
  const span = { from: Math.floor(from / grainMs) * grainMs, to: Math.ceil(to / grainMs) * grainMs };
  return { span, before: { from: Math.max(0, span.from - (span.to - span.from)), to: span.from } };
}

/** The last run of days without a gap. */
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

function cacheKeyOf({ workspaceId, groupId, keyId, personId, visiblePerson, model, provider }: UsageFilter): string {
  const words = [workspaceId, groupId, keyId, personId, visiblePerson, model, provider];
  return JSON.stringify(words.map((word) => word ?? null));
}

function filterColumns({ workspaceId, groupId, keyId, model, provider }: UsageFilter): readonly ScopeColumn[] {
  const filters = { workspace_id: workspaceId ?? undefined, group_id: groupId, key_id: keyId, model, provider };
  return Object.entries(filters).flatMap(([column, value]) => (value === undefined ? [] : [column as ScopeColumn]));
}

function chosen(rows: Rollups, filter: UsageFilter, { hasKeyIndex }: { readonly hasKeyIndex: boolean }): Rollups {
  const { workspaceId, keyId, groupId, personId, model, provider } = filter;
  const filters = { group_id: groupId, key_id: keyId, person_id: personId, model, provider };
  const query = rows.where((eb) => {
    const equal = equalsGiven<Row<"usage_rollups">>(filters);
    if (workspaceId === null) return eb.and([...equal]);
    // The index of a key leads to fewer rows than that of its workspace.
    const byKey = keyId !== undefined && hasKeyIndex;
    const column = eb.ref("workspace_id");
    return eb.and([byKey ? equalsWithoutIndex(column, workspaceId) : eb(column, "=", workspaceId), ...equal]);
  });
  return keyId === undefined ? query : hideOtherPeople(query, "key_id", filter);
}

/** Whether the entries of both times still exist and are few enough. Counts through an index. */
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

/** Removes people, or their keys, that the viewer may not see. */
export function hideOtherPeople(query: Rollups, column: string | null, { visiblePerson }: UsageFilter): Rollups {
  if (visiblePerson === undefined) return query;
  if (column === "person_id") return query.where(sql<string>`person_id`, "in", ["", visiblePerson]);
  if (column !== "key_id") return query;
  return query.where((eb) =>
    eb(
      "key_id",
      "not in",
      eb
        .selectFrom("api_keys")
        .select("api_keys.id")
        .where((key) => key(key.fn.coalesce("api_keys.person_id", "api_keys.owner_id"), "!=", visiblePerson)),
    ),
  );
}
