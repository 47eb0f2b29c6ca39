import type { RequestFilter, RequestPage } from "#ports/index.ts";
import { contains, equalsWithoutIndex } from "../database/conditions.ts";
import { cursorOf, isAfter, type PagePosition, parseCursor } from "../database/pages.ts";
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
  // Bodies are mostly JSON, where the text may be escaped.
  const texts = [...new Set([text, JSON.stringify(text).slice(1, -1)])];
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
      .select((eb) => {
        const bodies = [eb.ref("capture.request_body"), eb.ref("capture.response_body")];
        const terms = bodies.flatMap((body) => texts.map((each) => contains(body, each)));
        return eb.case().when(eb.or(terms)).then(1).else(0).end().as("matches");
      })
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
  return {
    data: await requestRows(connection, rows.map(storedEntry)),
    next: ended ? null : cursorOf(after),
    searchedFrom: !ended && found.length < limit ? after.at : null,
  };
}
