import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import { equalsGiven, equalsWithoutIndex } from "../database/conditions.ts";
import type { LatencyColumn, Row, Tables } from "../database/schema.ts";
import {
  gapsBetween,
  type Rollups,
  type RowPart,
  rollupsWithin,
  type SummedStarts,
  summedDays,
  summedHours,
  summedTimes,
} from "../ledger/ledger-day-reading.ts";
import { dayMs, type ScopeColumn, type TimeSpan } from "../ledger/ledger-grains.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { countedEntries, hourMs, rollupSketches, rollupSums, tagValueIn } from "../ledger/ledger-rollup.ts";
import type { PastTime } from "./past-sums.ts";
import { firstSliceMs, hoursWithData, type ReportContext } from "./report-context.ts";

/** The source of figures: rollups, or entries for steps shorter than an hour. */
export interface UsageRows {
  readonly stepMs: number;
  readonly span: TimeSpan;
  /** The time to compare with: the given one, or the preceding time of the same length. */
  readonly before: TimeSpan;
  readonly firstSliceMs: number;
  /** Rollups, ordered by hour. Otherwise entries, with durations in milliseconds instead of sketches. */
  readonly byHour: boolean;
  /** `column`: to group or filter by, in addition to the filter. `stepMs` null: not by time. */
  within(part: RowPart, by: RowGroups): SelectQueryBuilder<Tables, "usage_rollups", object>;
  /** The past times of a time that may be cached, without gaps between them. */
  past(span: TimeSpan, column: UsageColumn | null): readonly PastTime[];
  /** The parts that the cached past does not cover. */
  restOf(span: TimeSpan, past: readonly PastTime[]): readonly RowPart[];
  /** Cache key, without the time. */
  readonly question: string;
  /** Cuts a time to the part that has data. */
  clipToData(span: TimeSpan): Promise<TimeSpan>;
}

/** `tag_value`: the value of the filter's tag, empty for calls without it. */
export type UsageColumn = ScopeColumn | "tag_value";

interface RowGroups {
  readonly column: UsageColumn | null;
  readonly stepMs: number | null;
  /** Default: all. Other columns are not carried through the statement. */
  readonly summed?: readonly (typeof rollupSums)[number][];
  /** Default: all if `summed` is not given, else none. */
  readonly sketches?: readonly LatencyColumn[];
}

export async function usageRows(context: ReportContext, filter: UsageFilter, entriesMax: number): Promise<UsageRows> {
  const entries = entryRows(context, filter);
  const answerable = filter.stepMs < hourMs && (await isReadable(context, filter, entries, entriesMax));
  return answerable ? entries : await rollupRows(context, filter);
}

async function rollupRows(context: ReportContext, filter: UsageFilter): Promise<UsageRows> {
  const { connection, flavour } = context;
  const spans = timesOf(filter, hourMs);
  const whole = {
    from: Math.min(spans.before.from, spans.span.from),
    to: Math.max(spans.before.to, spans.span.to),
  };
  const counters = { days: await summedDays(connection, whole), hours: await summedHours(connection, whole) };
  const times = await summedTimes(connection, whole, counters);
  const needed = (column: UsageColumn | null): readonly ScopeColumn[] => [
    ...filterColumns(filter),
    ...scopeColumnsOf(column),
  ];
  const isUtc = filter.zone === undefined;
  // Sums of days cannot be split into smaller steps, or into days of another zone.
  const summedBy = (stepMs: number | null) =>
    stepMs === null || (isUtc && stepMs % dayMs === 0) ? times : { ...times, days: [] };
  return {
    ...spans,
    question: cacheKeyOf(filter),
    past(span, column) {
      // The owner of a key may change without its hours changing.
      if (filter.visiblePerson !== undefined && (column === "key_id" || filter.keyId !== undefined)) return [];
      return pastTimes(counters, span);
    },
    restOf: (span, past) => restOf(context, span, past),
    stepMs: Math.max(filter.stepMs, hourMs),
    firstSliceMs: firstSliceMs(context, dayMs),
    byHour: true,
    within(part, { column, stepMs, ...read }) {
      const figures = figureColumns(read);
      const rows = rollupsWithin(connection, flavour, {
        ...part,
        summed: summedBy(stepMs),
        needed: needed(column),
        columns: ["hour", ...scopeColumnsOf(column), ...figures],
        filter: (given) => chosen(given, filter, context),
      });
      return column === "tag_value" ? withTagValue(context, rows, filter, figures) : rows;
    },
    clipToData: (span) => hoursWithData(context, span),
  };
}

function entryRows(context: ReportContext, filter: UsageFilter): UsageRows {
  return {
    ...timesOf(filter, filter.stepMs),
    question: cacheKeyOf(filter),
    past: () => [],
    restOf: (span) => [{ span }],
    stepMs: filter.stepMs,
    firstSliceMs: firstSliceMs(context, hourMs / 12),
    byHour: false,
    within({ span }, { column }) {
      const counted = context.connection.selectFrom(countedEntries(context.connection).as("usage_rollups"));
      const inTime = (counted as unknown as Rollups).where("hour", ">=", span.from).where("hour", "<", span.to);
      const rows = chosen(inTime, filter, context, { hasKeyIndex: false });
      return column === "tag_value" ? withTagValue(context, rows, filter) : rows;
    },
    async clipToData(span) {
      const hours = await hoursWithData(context, span);
      return { from: Math.max(span.from, hours.from), to: Math.min(span.to, hours.to) };
    },
  };
}

/** Widens a time to whole grains. */
function timesOf({ compared, ...time }: UsageFilter, grainMs: number): Pick<UsageRows, "span" | "before"> {
  const whole = ({ from, to }: TimeSpan) => ({
    from: Math.floor(from / grainMs) * grainMs,
    to: Math.ceil(to / grainMs) * grainMs,
  });
  const span = whole(time);
  const before = { from: Math.max(0, span.from - (span.to - span.from)), to: span.from };
  return { span, before: compared === undefined ? before : whole(compared) };
}

/**
 * The past of a time, with versions: the last run of summed days, and the summed hours after it. A day that the time cuts is a separate
 * part, because most periods move on with every hour.
 */
export function pastTimes(
  { days, hours }: { readonly days: SummedStarts; readonly hours: SummedStarts },
  span: TimeSpan,
): readonly PastTime[] {
  const run = cutTo(lastRun([...days.keys()], dayMs), span);
  const first = run?.to ?? Math.max(span.from, lastRun([...hours.keys()], hourMs).from);
  let last = first;
  while (last < span.to && hours.has(last)) last += hourMs;
  const dayEdges = run === undefined ? [] : edgesOf(run);
  return [
    ...dayEdges.map((part) => ({ ...part, version: versionOf(days, part, dayMs) })),
    ...(first === last
      ? []
      : [{ from: first, to: last, version: versionOf(hours, { from: first, to: last }, hourMs) }]),
  ];
}

/** The whole days of a time, and the parts of days before and after them. */
function edgesOf({ from, to }: TimeSpan): readonly TimeSpan[] {
  const first = Math.min(to, Math.ceil(from / dayMs) * dayMs);
  const last = Math.max(first, Math.floor(to / dayMs) * dayMs);
  return [
    { from, to: first },
    { from: first, to: last },
    { from: last, to },
  ].filter((part) => part.from < part.to);
}

function versionOf(starts: SummedStarts, { from, to }: TimeSpan, lengthMs: number): string {
  const first = from - (from % lengthMs);
  const touched = Array.from({ length: Math.ceil((to - first) / lengthMs) }, (_, n) => first + n * lengthMs);
  return touched.map((start) => starts.get(start)?.version ?? "").join();
}

/** The parts of a time that the past times, which have no gaps, do not cover. */
export function restOf(
  { flavour }: Pick<ReportContext, "flavour">,
  span: TimeSpan,
  parts: readonly PastTime[],
): readonly RowPart[] {
  const [first, last] = [parts[0], parts.at(-1)];
  const past = first === undefined || last === undefined ? null : { from: first.from, to: last.to };
  // A second statement costs PostgreSQL a plan, and unfolded sums have to be read anyway.
  if (past === null || flavour.name === "postgres") return [{ span, past }];
  return gapsBetween([past], span).map((gap) => ({ span: gap }));
}

/** The last run without a gap. */
function lastRun(starts: readonly number[], lengthMs: number): TimeSpan {
  const to = (starts.at(-1) ?? -lengthMs) + lengthMs;
  let from = to;
  for (let n = starts.length - 1; starts[n] === from - lengthMs; n--) from -= lengthMs;
  return { from, to };
}

function cutTo(run: TimeSpan, span: TimeSpan): TimeSpan | undefined {
  const [from, to] = [Math.max(run.from, span.from), Math.min(run.to, span.to)];
  return from < to ? { from, to } : undefined;
}

/** Everything but the time and the steps. */
function cacheKeyOf({ from, to, stepMs, by, compared, zone, ...filter }: UsageFilter): string {
  return JSON.stringify(Object.entries(filter).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Filters by the columns of rollups. */
function filtersOf({ groupId, keyId, personId, model, provider, userAgent, endpoint }: UsageFilter) {
  return {
    group_id: groupId,
    key_id: keyId,
    person_id: personId,
    model,
    provider,
    user_agent: userAgent,
    endpoint,
  };
}

function scopeColumnsOf(column: UsageColumn | null): readonly ScopeColumn[] {
  if (column === null) return [];
  return [column === "tag_value" ? "tags" : column];
}

function filterColumns(filter: UsageFilter): readonly ScopeColumn[] {
  const { workspaceId, tagValue } = filter;
  const filters = { workspace_id: workspaceId ?? undefined, ...filtersOf(filter), tags: tagValue };
  return Object.entries(filters).flatMap(([column, value]) => (value === undefined ? [] : [column as ScopeColumn]));
}

function chosen(
  rows: Rollups,
  filter: UsageFilter,
  context: Pick<ReportContext, "flavour">,
  { hasKeyIndex }: { readonly hasKeyIndex: boolean } = { hasKeyIndex: true },
): Rollups {
  const { workspaceId, keyId, tagValue } = filter;
  const query = rows.where((eb) => {
    const equal: Expression<SqlBool>[] = [...equalsGiven<Row<"usage_rollups">>(filtersOf(filter))];
    if (tagValue !== undefined) equal.push(eb(tagValueOf(context, filter), "=", tagValue));
    if (workspaceId === null) return eb.and(equal);
    // The index of keys leads to fewer rows than the index of workspaces.
    const byKey = keyId !== undefined && hasKeyIndex;
    const column = eb.ref("workspace_id");
    return eb.and([byKey ? equalsWithoutIndex(column, workspaceId) : eb(column, "=", workspaceId), ...equal]);
  });
  return keyId === undefined ? query : hideOtherPeople(query, "key_id", filter);
}

function tagValueOf({ flavour }: Pick<ReportContext, "flavour">, { tag = "" }: UsageFilter): RawBuilder<string> {
  return tagValueIn(flavour, tag);
}

function figureColumns({ summed, sketches }: Pick<RowGroups, "summed" | "sketches">) {
  return [...(summed ?? rollupSums), ...(sketches ?? (summed === undefined ? rollupSketches : []))];
}

/** Adds the column `tag_value`. */
function withTagValue(
  context: ReportContext,
  rows: Rollups,
  filter: UsageFilter,
  figures = figureColumns({}),
): Rollups {
  const named = rows.select(["hour", ...figures, tagValueOf(context, filter).as("tag_value")]);
  return context.connection.selectFrom(named.as("usage_rollups")) as unknown as Rollups;
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
