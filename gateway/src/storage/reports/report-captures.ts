import { sql } from "kysely";
import type { CallScope, CapturedHead, CapturedTexts, Paged } from "#ports/index.ts";
import { equalsWithoutIndex } from "../database/conditions.ts";
import { cursorOf, cutPage, isAfter, parseCursor } from "../database/pages.ts";
import { storedEntry } from "../ledger/ledger-columns.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import type { ReportContext } from "./report-context.ts";
import { requestRows } from "./report-requests.ts";

/** Requests with captured bodies, newest first, without the bodies. */
export async function capturedHeads(
  { connection, deadline }: ReportContext,
  workspaceId: string | null,
  { from, to }: TimeSpan,
  cursor: string | null,
  limit: number,
): Promise<Paged<CapturedHead>> {
  let query = connection
    .selectFrom("request_captures")
    .select(["request_id as id", "at"])
    .where("at", ">=", from)
    .where("at", "<", to)
    .where("request_body", "is not", null)
    .orderBy("at", "desc")
    .orderBy("request_id", "desc")
    .limit(limit + 1);
  if (workspaceId !== null) query = query.where((eb) => equalsWithoutIndex(eb.ref("workspace_id"), workspaceId));
  if (cursor !== null) query = query.where(isAfter(["at", "request_id"], parseCursor(cursor)));
  const { page, next } = cutPage(await query.execute(), limit, cursorOf);
  deadline.check();
  const ids = page.map(({ id }) => id);
  const stored =
    ids.length === 0
      ? []
      : await connection
          .selectFrom("ledger_entries")
          .select("record")
          .where("request_id", "in", ids)
          .orderBy("at")
          .orderBy("attempt_id")
          .execute();
  // The last attempt of a request counts.
  const rows = new Map((await requestRows(connection, stored.map(storedEntry))).map((row) => [row.request_id, row]));
  const data = page.flatMap(({ id, at }) => {
    const row = rows.get(id);
    if (row === undefined) return [];
    const { workspace, group, key, person, endpoint, outcome } = row;
    return [{ request_id: id, at, workspace, group, key, person, endpoint, isAnswered: outcome === "succeeded" }];
  });
  return { data, next };
}

export async function capturedTexts(
  { connection }: ReportContext,
  requestIds: readonly string[],
  now: number,
): Promise<readonly CapturedTexts[]> {
  if (requestIds.length === 0) return [];
  const rows = await connection
    .selectFrom("request_captures")
    .select(["request_id", "request_body", "response_body", "request_bytes", "response_bytes", "truncated"])
    .select("response_headers")
    .where("request_id", "in", requestIds)
    .where("expires_at", ">", now)
    .execute();
  return rows.map((row) => ({
    requestId: row.request_id,
    request: row.request_body,
    answer: row.response_body,
    isCut: {
      input: row.truncated === 1 && isShorter(row.request_body, row.request_bytes),
      output: row.truncated === 1 && isShorter(row.response_body, row.response_bytes),
    },
    isStream: isEventStream(JSON.parse(row.response_headers)),
  }));
}

function isShorter(text: string | null, bytes: number | null): boolean {
  return text !== null && bytes !== null && Buffer.byteLength(text) < bytes;
}

function isEventStream(headers: readonly (readonly [string, string])[]): boolean {
  return headers.some(([name, value]) => name === "content-type" && /^text\/event-stream\b/i.test(value));
}

/** Requests of the hours from `from` on, before `to`. */
export async function callCount(
  { connection }: ReportContext,
  { workspaceId, workspaces, groups, keys }: CallScope,
  { from, to }: TimeSpan,
): Promise<number> {
  let query = connection
    .selectFrom("usage_rollups")
    .select((eb) => eb.fn.sum<number | null>("requests").as("requests"))
    .where("hour", ">=", from)
    .where("hour", "<", to);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  const lists = [
    ["workspace_id", workspaces],
    ["group_id", groups],
    ["key_id", keys],
  ] as const;
  const named = lists.filter(([, ids]) => ids.length > 0);
  if (named.length > 0) {
    query = query.where((eb) =>
      eb.or(named.map(([column, ids]) => sql<boolean>`${eb.ref(column)} || '' in (${sql.join(ids)})`)),
    );
  }
  const { requests } = await query.executeTakeFirstOrThrow();
  return requests ?? 0;
}
