import type { RequestSort } from "@sluice/contract/words";
import { type RawBuilder, sql } from "kysely";
import { bounds, type LedgerEntry } from "#core/index.ts";
import type { RequestFilter, RequestPage } from "#ports/index.ts";
import type { Connection } from "../database/database.ts";
import { cursorOfText, parseCursorText } from "../database/pages.ts";
import { inputColumns, outputColumns, storedEntry } from "../ledger/ledger-columns.ts";
import { inOneSnapshot, type ReportContext } from "./report-context.ts";
import { eachEntryHour } from "./report-entry-hours.ts";
import { isOneOf, requestRows } from "./report-requests.ts";

/** No index has these orders, so everything in the time range is read until then. */
const sortScanMs = 1_500;

const ranks: Readonly<Record<"at" | "cost_usd" | "total_ms" | "tokens", RawBuilder<number>>> = {
  at: sql.ref("at"),
  cost_usd: sql.ref("cost_nano_usd"),
  total_ms: sql`(total_ms + started_after_ms)`,
  tokens: sql`(${sql.join(
    [...inputColumns, ...outputColumns].map((column) => sql.ref(column)),
    sql` + `,
  )})`,
};

interface Ranked {
  readonly rank: number;
  readonly at: number;
  readonly attempt_id: string;
}

/** The first `bounds.listPageMax` attempts in an order other than by time; equal ones newest first. */
export async function sortedRequestPage(
  context: ReportContext,
  filter: RequestFilter,
  sort: RequestSort,
  cursor: string | null,
  limit: number,
): Promise<RequestPage> {
  const [, minus = "", measure = ""] = /^(-?)(.*)$/.exec(sort) ?? [];
  const direction = minus === "-" ? "desc" : "asc";
  const rank = ranks[measure as keyof typeof ranks];
  const offset = cursor === null ? 0 : Number(parseCursorText(cursor, /^sorted (\d{1,4})$/)[0]);
  const needed = Math.min(offset + limit + 1, bounds.listPageMax);
  // Few sizes, so that what was found for one page serves the next one too.
  const size = needed <= firstPageRows ? firstPageRows : bounds.listPageMax;
  const order = (one: Ranked, other: Ranked) =>
    (direction === "desc" ? other.rank - one.rank : one.rank - other.rank) ||
    other.at - one.at ||
    (one.attempt_id < other.attempt_id ? 1 : -1);
  const merge = (one: readonly Ranked[], other: readonly Ranked[]) => {
    const [last, best] = [one[size - 1], other[0]];
    if (best === undefined || (last !== undefined && order(best, last) > 0)) return one;
    return [...one, ...other].toSorted(order).slice(0, size);
  };
  return await inOneSnapshot(context, async (snapshot) => {
    const { found, searchedTo } = await eachEntryHour<readonly Ranked[]>(snapshot, filter, {
      question: `${sort} ${size}`,
      scanMs: sortScanMs,
      none: () => [],
      add: async (to, list, after, end) => {
        const rows = await list
          .matching(after, end)
          ?.select([rank.as("rank"), "at", "attempt_id"])
          .orderBy("rank", direction)
          .orderBy("at", "desc")
          .orderBy("attempt_id", "desc")
          .limit(size)
          .execute();
        return merge(to, rows ?? []);
      },
      merge,
      bytesOf: (ranked) => ranked.length * rankedBytes,
    });
    const entries = await entriesAt(snapshot.connection, found.slice(offset, offset + limit));
    return {
      data: await requestRows(snapshot.connection, entries),
      next: found.length > offset + limit ? cursorOfText(`sorted ${offset + limit}`) : null,
      searchedFrom: searchedTo?.at ?? null,
    };
  });
}

const firstPageRows = 64;
/** Approximate size of a cached rank. */
const rankedBytes = 150;

/** In the order of their places. */
async function entriesAt(connection: Connection, places: readonly Ranked[]): Promise<readonly LedgerEntry[]> {
  if (places.length === 0) return [];
  const rows = await connection
    .selectFrom("ledger")
    .select(["attempt_id", "record"])
    .where(isOneOf(places.map(({ at, attempt_id: id }) => ({ at, id }))))
    .execute();
  const records = new Map(rows.map((row) => [row.attempt_id, row]));
  return places.flatMap(({ attempt_id: id }) => records.get(id) ?? []).map(storedEntry);
}
