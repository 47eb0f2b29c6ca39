import type { TimeSpan } from "../ledger/ledger-day-reading.ts";
import { dayMs } from "../ledger/ledger-days.ts";
import type { Deadline, ReportContext } from "./report-desk.ts";

/** How long one slice of a search may take. */
const reportScanMs = 120;

/** A long list as it is read from its newest entry on. A place is that of an entry; a slice begins behind `after`. */
export interface SlicedList<Place, Row> {
  /** The place of the entry so many behind `after`; null when the list ends before. */
  placeBehind(after: Place, entries: number): Promise<Place | null>;
  /** What matches behind `after`, down to `end` and including it; null: to the end of the list. */
  matching(after: Place, end: Place | null, limit: number): Promise<readonly Row[]>;
  placeOf(row: Row): Place;
}

/**
 * One page of what matches. A search for what is rare looks through slices of the list, and ends its page early when that
 * has taken `reportScanMs`: the page is then short, or empty, and says where to go on.
 */
export async function slicedPage<Place, Row>(
  list: SlicedList<Place, Row>,
  start: Place,
  size: number,
  deadline: Deadline,
  scanMs: number = reportScanMs,
): Promise<{ readonly rows: readonly Row[]; readonly next: Place | null }> {
  const startedAt = performance.now();
  const rows: Row[] = [];
  let after = start;
  for (let entries = sliceMin; ; entries = Math.min(entries * 2, sliceMax)) {
    deadline.check();
    const end = await list.placeBehind(after, entries);
    // One more than asked for tells whether there is a following page.
    rows.push(...(await list.matching(after, end, size + 1 - rows.length)));
    if (rows.length > size) {
      const page = rows.slice(0, size);
      return { rows: page, next: list.placeOf(page[size - 1] as Row) };
    }
    if (end === null) return { rows, next: null };
    if (performance.now() - startedAt >= scanMs) return { rows, next: end };
    after = end;
  }
}

/** Entries of the first slice, and the longest: of a million, each takes 10 to 100 ms. */
const sliceMin = 10_000;
const sliceMax = 160_000;

/**
 * How much of a time the first statement reads. PostgreSQL is asked for all at once: it ends a statement when the time is over, and
 * each one more costs a plan over every month.
 */
export function firstSliceMs({ flavour }: Pick<ReportContext, "flavour">, ms: number): number {
  return flavour.name === "postgres" ? Number.POSITIVE_INFINITY : ms;
}

/** Goes through a time in spans that are short enough for one statement each; those that take little grow longer. */
export async function timeSlices(
  span: TimeSpan,
  firstMs: number,
  deadline: Deadline,
  read: (span: TimeSpan) => Promise<void>,
): Promise<void> {
  let lengthMs = firstMs;
  for (let from = span.from; from < span.to; ) {
    deadline.check();
    // Whole days are read by their own sums, so none is cut in two.
    const end = lengthMs < dayMs ? from + lengthMs : Math.ceil((from + lengthMs) / dayMs) * dayMs;
    const to = Math.min(end, span.to);
    const startedAt = performance.now();
    await read({ from, to });
    if (performance.now() - startedAt < shortMs) lengthMs *= 2;
    from = to;
  }
}

const shortMs = 50;
