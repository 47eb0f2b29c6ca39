import { equalsWithoutIndex } from "../database/conditions.ts";
import type { Connection } from "../database/database.ts";
import type { PagePosition } from "../database/pages.ts";
import type { Deadline } from "./report-context.ts";

export const reportScanMs = 100;

/** A list read from its newest entry on, in slices. */
export interface SlicedList<PagePosition, Row> {
  /** The position `entries` entries after `after`; null: the list ends before. */
  positionAfter(after: PagePosition, entries: number): Promise<PagePosition | null>;
  /** Matches after `after`, up to and including `end`; null: to the end of the list. */
  matching(after: PagePosition, end: PagePosition | null, limit: number): Promise<readonly Row[]>;
  placeOf(row: Row): PagePosition;
}

/**
 * One page of matches. A search for rare matches ends its page early after `reportScanMs`: the page is then short or empty, and the
 * search continues at `next`.
 */
export async function slicedPage<PagePosition, Row>(
  list: SlicedList<PagePosition, Row>,
  start: PagePosition,
  size: number,
  deadline: Deadline,
  scanMs: number = reportScanMs,
): Promise<{ readonly rows: readonly Row[]; readonly next: PagePosition | null }> {
  const startedAt = performance.now();
  const rows: Row[] = [];
  let after = start;
  for (let entries = sliceMin; ; entries = Math.min(entries * 2, sliceMax)) {
    deadline.check();
    const end = await list.positionAfter(after, entries);
    // One more than requested shows whether there is a next page.
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

/**
 * Reads slices from `start` on until the end of the list, or until `scanMs` are over. Resolves to the position that was reached; null: the
 * end.
 */
export async function eachSlice(
  list: {
    readonly start: PagePosition;
    positionAfter(after: PagePosition, entries: number): Promise<PagePosition | null>;
  },
  deadline: Deadline,
  scanMs: number,
  read: (after: PagePosition, end: PagePosition | null) => Promise<void>,
): Promise<PagePosition | null> {
  const startedAt = performance.now();
  for (let after = list.start; ; ) {
    deadline.check();
    const end = await list.positionAfter(after, sliceMax);
    await read(after, end);
    if (end === null || performance.now() - startedAt >= scanMs) return end;
    after = end;
  }
}

/** Entries of the first and of the largest slice: one takes 10 to 50 ms, and a page ends with the slice in which its time is over. */
const sliceMin = 5_000;
const sliceMax = 10_000;

/** With more matches, the list is read in its own order. */
const idsMax = 1_000;

/**
 * The attempts with an attempt, request or upstream id that begins with `text`. null: there are many, or only a scan of the list can find
 * them.
 */
export async function idsBeginningWith(
  connection: Connection,
  workspaceId: string | null,
  start: string,
): Promise<readonly PagePosition[] | null> {
  const places = new Map<string, PagePosition>();
  const entries = () => {
    const query = connection
      .selectFrom("ledger_entries")
      .select(["at", "attempt_id as id"])
      .limit(idsMax + 1);
    return workspaceId === null ? query : query.where((eb) => equalsWithoutIndex(eb.ref("workspace_id"), workspaceId));
  };
  const queries = [
    entries().where("request_id", ">=", start).where("request_id", "<", end(start)),
    entries()
      .where("upstream_id", "is not", null)
      .where("upstream_id", ">=", start)
      .where("upstream_id", "<", end(start)),
  ];
  if (mayBeAttempt(start)) {
    const time = timeOfAttempts(start);
    if (time === null) return null;
    const begun = entries().where("at", ">=", time.from).where("at", "<", time.to);
    queries.push(begun.where("attempt_id", ">=", start).where("attempt_id", "<", end(start)));
  }
  for (const query of queries) {
    const rows = await query.execute();
    if (rows.length > idsMax) return null;
    for (const place of rows) places.set(place.id, place);
  }
  return places.size === 0 && mayBeAttempt(start) ? null : [...places.values()];
}

/** Ids do not contain the highest code point. */
export function end(start: string): string {
  return `${start}\u{10FFFF}`;
}

const attemptPrefix = "att_";

function mayBeAttempt(start: string): boolean {
  return start.startsWith(attemptPrefix) || attemptPrefix.startsWith(start);
}

/** Ids of attempts begin with their time (time-ordered-ids.ts), which may differ from `at` by a clock that was set back. */
function timeOfAttempts(start: string): { readonly from: number; readonly to: number } | null {
  const digits = start.slice(attemptPrefix.length, attemptPrefix.length + timeDigits);
  if (digits.length < timeDigitsMin) return null;
  const timeOf = (text: string) => [...text].reduce((time, digit) => time * 32 + alphabet.indexOf(digit), 0);
  if ([...digits].some((digit) => !alphabet.includes(digit))) return null;
  return {
    from: timeOf(digits.padEnd(timeDigits, "0")) - clockSlackMs,
    to: timeOf(digits.padEnd(timeDigits, "Z")) + clockSlackMs,
  };
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeDigits = 10;
/** With fewer digits the time is longer than a quarter of an hour. */
const timeDigitsMin = 6;
const clockSlackMs = 10_000;
