import { sql } from "kysely";
import type { RequestFilter } from "#ports/index.ts";
import type { PagePosition } from "../database/pages.ts";
import { summedHours } from "../ledger/ledger-day-reading.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import type { PastTime } from "./past-sums.ts";
import type { ReportContext } from "./report-context.ts";
import { hasCheckFilter } from "./report-request-checks.ts";
import { entryList } from "./report-requests.ts";
import { eachSlice } from "./report-search.ts";

type EntryList = Awaited<ReturnType<typeof entryList>>;

interface HourReading<Found> {
  /** The kind of question, and its parameters other than the filter. */
  readonly question: string;
  readonly scanMs: number;
  readonly none: () => Found;
  /** Adds the matches of a slice of the list. */
  readonly add: (to: Found, list: EntryList, after: PagePosition, end: PagePosition | null) => Promise<Found>;
  readonly merge: (one: Found, other: Found) => Found;
  readonly bytesOf: (found: Found) => number;
}

/**
 * Reads the entries of a filter from the newest on, until `scanMs` are over. Results of past hours are cached for as long as those do not
 * change, so that a repeated question reads only the latest hours. `searchedTo`: the position that was reached; null: the end.
 */
export async function eachEntryHour<Found>(
  context: ReportContext,
  filter: RequestFilter,
  { question, scanMs, none, add, merge, bytesOf }: HourReading<Found>,
): Promise<{ readonly found: Found; readonly searchedTo: PagePosition | null }> {
  const { deadline, pastSums } = context;
  const { from = 0, to = Number.MAX_SAFE_INTEGER, ...others } = filter;
  const name = JSON.stringify([question, Object.entries(others).sort(([one], [other]) => (one < other ? -1 : 1))]);
  const startedAt = performance.now();
  let found = none();
  for (const { hour, ...span } of await partsOf(context, filter, { from, to })) {
    const cached = hour === null ? undefined : pastSums.cached<Found>(name, hour);
    if (cached !== undefined) {
      found = merge(found, cached.value);
      continue;
    }
    const leftMs = scanMs - (performance.now() - startedAt);
    const start = { at: span.to, id: "" };
    if (leftMs <= 0) return { found, searchedTo: start };
    const list = await entryList(context, { ...filter, ...span });
    let own = none();
    const searchedTo = await eachSlice(list, deadline, leftMs, async (after, end) => {
      own = await add(own, list, after, end);
    });
    found = merge(found, own);
    if (searchedTo !== null) return { found, searchedTo };
    if (hour !== null) pastSums.put(name, hour, own, bytesOf(own));
  }
  return { found, searchedTo: null };
}

/** A time as past hours and the times between them, newest first. `hour` null: it may change without a new version. */
async function partsOf(
  context: ReportContext,
  filter: RequestFilter,
  { from, to }: TimeSpan,
): Promise<readonly (TimeSpan & { readonly hour: PastTime | null })[]> {
  if (from >= to) return [];
  // A search by ids reads few entries of any time. A check does not change the version of its hour.
  const { search = "" } = filter;
  const hours = search === "" && !hasCheckFilter(filter) ? await unchangedHours(context, { from, to }) : [];
  const parts: (TimeSpan & { readonly hour: PastTime | null })[] = [];
  let end = to;
  for (const hour of hours.toReversed()) {
    if (hour.to < end) parts.push({ from: hour.to, to: end, hour: null });
    parts.push({ from: hour.from, to: hour.to, hour });
    end = hour.from;
  }
  if (from < end) parts.push({ from, to: end, hour: null });
  return parts;
}

/** The whole summed hours in a time. An insert or a deletion of entries changes the version of their hour, or removes the hour. */
async function unchangedHours(
  { connection, flavour }: ReportContext,
  { from, to }: TimeSpan,
): Promise<readonly PastTime[]> {
  const first = Math.max(from, await prunedBefore(connection));
  const summed = await summedHours(connection, { from: first, to });
  // Unfolded sums do not change the version yet.
  const { rows } =
    flavour.name === "postgres"
      ? await sql<{ hour: number }>`select distinct hour from usage_rollups_tail`.execute(connection)
      : { rows: [] };
  const unfolded = new Set(rows.map(({ hour }) => Number(hour)));
  return [...summed].flatMap(([hour, { version }]) =>
    unfolded.has(hour) || hour + hourMs > to ? [] : [{ from: hour, to: hour + hourMs, version }],
  );
}
