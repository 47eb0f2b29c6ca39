import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import { equalsWithoutIndex } from "../database/conditions.ts";
import type { Connection } from "../database/database.ts";
import type { Tables } from "../database/schema.ts";
import type { Deadline } from "./report-context.ts";

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

/** More than this is no search for one thing; then the list is looked through in its own order. */
const idsMax = 1_000;

type Terms = ExpressionBuilder<Tables, "ledger_entries">;

/**
 * The attempts whose own id, or whose request's or upstream's id, begins with a text; each kind of id has its index. null
 * when there are many.
 */
export async function idsBeginningWith(
  connection: Connection,
  workspaceId: string | null,
  start: string,
): Promise<readonly string[] | null> {
  const ids = new Set<string>();
  for (const column of ["attempt_id", "request_id", "upstream_id"] as const) {
    const rows = await connection
      .selectFrom("ledger_entries")
      .select("attempt_id")
      .where((eb) => eb.and([...within(eb, column, workspaceId), eb(column, ">=", start), eb(column, "<", end(start))]))
      .limit(idsMax + 1)
      .execute();
    if (rows.length > idsMax) return null;
    for (const row of rows) ids.add(row.attempt_id);
  }
  return [...ids];
}

/** The index of upstream ids goes by workspace first. */
function within(
  eb: Terms,
  column: "attempt_id" | "request_id" | "upstream_id",
  workspaceId: string | null,
): Expression<SqlBool>[] {
  if (column === "upstream_id") {
    return workspaceId === null
      ? [eb("workspace_id", "in", eb.selectFrom("workspaces").select("id")), eb("upstream_id", "is not", null)]
      : [eb("workspace_id", "=", workspaceId), eb("upstream_id", "is not", null)];
  }
  return workspaceId === null ? [] : [equalsWithoutIndex(eb.ref("workspace_id"), workspaceId)];
}

/** Behind everything that begins so: no id holds the last character there is. */
function end(start: string): string {
  return `${start}\u{10FFFF}`;
}
