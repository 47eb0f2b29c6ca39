import type { RequestSort } from "@sluice/contract/words";
import { type RawBuilder, sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { RequestFilter, RequestPage } from "#ports/index.ts";
import { cursorOfText, parseCursorText } from "../database/pages.ts";
import { inputColumns, outputColumns, storedEntry } from "../ledger/ledger-columns.ts";
import type { ReportContext } from "./report-context.ts";
import { entryList, requestRows } from "./report-requests.ts";
import { eachSlice } from "./report-search.ts";

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
  readonly record: string;
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
  const size = Math.min(offset + limit + 1, bounds.listPageMax);
  const list = await entryList(context, filter);
  const order = (one: Ranked, other: Ranked) =>
    (direction === "desc" ? other.rank - one.rank : one.rank - other.rank) ||
    other.at - one.at ||
    (one.attempt_id < other.attempt_id ? 1 : -1);
  let first: readonly Ranked[] = [];
  const searchedTo = await eachSlice(list, context.deadline, sortScanMs, async (after, end) => {
    const rows = await list
      .matching(after, end)
      ?.select([rank.as("rank"), "at", "attempt_id", "record"])
      .orderBy("rank", direction)
      .orderBy("at", "desc")
      .orderBy("attempt_id", "desc")
      .limit(size)
      .execute();
    first = [...first, ...(rows ?? [])].toSorted(order).slice(0, size);
  });
  const page = first.slice(offset, offset + limit);
  return {
    data: await requestRows(context.connection, page.map(storedEntry)),
    next: first.length > offset + limit ? cursorOfText(`sorted ${offset + limit}`) : null,
    searchedFrom: searchedTo?.at ?? null,
  };
}
