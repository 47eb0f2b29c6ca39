import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { RequestFilter, RequestPage } from "#ports/index.ts";
import { contains, equalsWithoutIndex } from "../database/conditions.ts";
import { cursorOf, isAfter, type PagePosition, parseCursor } from "../database/pages.ts";
import type { Tables } from "../database/schema.ts";
import { storedEntry } from "../ledger/ledger-columns.ts";
import type { ReportContext } from "./report-context.ts";
import { entriesWith, requestRows } from "./report-requests.ts";

/** Bodies have up to 64 KiB each, so a page of matches ends early after `textScanMs`. */
const textScanMs = 1_000;
const capturesAtOnce = 200;

/** Requests with a text in their captured bodies, newest capture first. The page may be short; the search continues at `next`. */
export async function textRequestPage(
  { connection, deadline, flavour }: ReportContext,
  filter: RequestFilter,
  text: string,
  cursor: string | null,
  limit: number,
): Promise<RequestPage> {
  const { workspaceId } = filter;
  const startedAt = performance.now();
  const found: string[] = [];
  let after: PagePosition = cursor === null ? { at: Number.MAX_SAFE_INTEGER, id: "" } : parseCursor(cursor);
  if (filter.to !== undefined && filter.to <= after.at) after = { at: filter.to, id: "" };
  let ended = false;
  while (!ended && found.length < limit && performance.now() - startedAt < textScanMs) {
    deadline.check();
    let slice = connection
      .selectFrom("request_captures")
      .select(["request_id", "at"])
      .where(isAfter(["at", "request_id"], after))
      .where("at", ">=", filter.from ?? 0)
      .orderBy("at", "desc")
      .orderBy("request_id", "desc")
      .limit(capturesAtOnce);
    if (workspaceId !== null) slice = slice.where((eb) => equalsWithoutIndex(eb.ref("workspace_id"), workspaceId));
    const rows = await connection
      .with("slice", () => slice)
      .selectFrom("slice")
      .innerJoin("request_captures as capture", "capture.request_id", "slice.request_id")
      .select(["slice.request_id as id", "slice.at"])
      .select((eb) =>
        eb
          .case()
          .when(hasText(eb as never, text))
          .then(1)
          .else(0)
          .end()
          .as("matches"),
      )
      .orderBy("slice.at", "desc")
      .orderBy("slice.request_id", "desc")
      .execute();
    ended = rows.length < capturesAtOnce;
    for (const { id, at, matches } of rows) {
      if (found.length >= limit) {
        ended = false;
        break;
      }
      after = { at, id };
      if (matches === 1) found.push(id);
    }
  }
  const rows = found.length === 0 ? [] : await entriesWith(connection, flavour, filter, found).execute();
  const next = ended ? null : after;
  return {
    data: await requestRows(connection, rows.map(storedEntry)),
    next: next === null ? null : cursorOf(next),
    searchedFrom: next !== null && found.length < limit ? next.at : null,
  };
}

/** Bodies are mostly JSON, where the text may be escaped. */
function hasText(eb: ExpressionBuilder<Tables & { capture: Tables["request_captures"] }, "capture">, text: string) {
  const escaped = JSON.stringify(text).slice(1, -1);
  const bodies = ["capture.request_body", "capture.response_body"] as const;
  const terms: Expression<SqlBool>[] = bodies.flatMap((body) =>
    [...new Set([text, escaped])].map((each) => contains(eb.ref(body), each)),
  );
  return eb.or(terms);
}
