import { type ExpressionBuilder, sql } from "kysely";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import type { RequestFilter } from "#ports/index.ts";
import { beginsWith, equalsGiven, equalsWithoutIndex } from "../database/conditions.ts";
import type { Connection } from "../database/database.ts";
import { isAfter, type PagePosition } from "../database/pages.ts";
import type { Row, Tables } from "../database/schema.ts";
import { checkConditions } from "./report-request-checks.ts";

/** Background responses of one request that are not complete. */
export async function pendingOf(
  connection: Connection,
  workspaceId: string | null,
  requestId: string,
): Promise<readonly LedgerEntry[]> {
  let query = pending(connection).where("tasks.request_id", "=", requestId);
  if (workspaceId !== null) query = query.where("tasks.workspace_id", "=", workspaceId);
  return (await query.execute()).map(({ request }) => entryOf(request));
}

/** Matching background responses that are not complete, newest first. `next`: after the last one that was read; null: no more. */
export async function pendingPage(
  connection: Connection,
  filter: RequestFilter,
  after: PagePosition,
  limit: number,
): Promise<{ readonly entries: readonly LedgerEntry[]; readonly next: PagePosition | null }> {
  if (!canMatchPending(filter)) return { entries: [], next: null };
  const read = await pending(connection)
    .where(isAfter(["tasks.created_at", "tasks.attempt_id"], after))
    .where("tasks.created_at", ">=", filter.from ?? 0)
    .where((eb) => eb.and(conditions(eb, filter)))
    .orderBy("tasks.created_at", "desc")
    .orderBy("tasks.attempt_id", "desc")
    .limit(limit)
    .execute();
  const entries = read.map(({ request }) => entryOf(request));
  const last = entries.length < limit ? undefined : entries.at(-1);
  return {
    // The endpoint is only in the entry.
    entries: entries.filter(({ endpoint }) => filter.endpoint === undefined || endpoint === filter.endpoint),
    next: last === undefined ? null : { at: last.at, id: last.attemptId },
  };
}

/** Must match the partial index of open tasks. */
function pending(connection: Connection) {
  return connection
    .selectFrom("tasks")
    .innerJoin("task_requests", "task_requests.task_id", "tasks.id")
    .select("task_requests.request")
    .where("tasks.kind", "=", sql.lit("response"))
    .where("tasks.final", "=", sql.lit(0));
}

/** Its usage is not measured yet. */
function entryOf(request: string): LedgerEntry {
  return { ...JSON.parse(request), usage: noUsage, usageSource: "none" };
}

/** It has no status, error or duration yet. */
function canMatchPending({ outcome, status, errorCode, minMs, wouldRefuse }: RequestFilter): boolean {
  if (outcome !== undefined && outcome !== "pending") return false;
  return status === undefined && errorCode === undefined && minMs === undefined && wouldRefuse === undefined;
}

function conditions(eb: ExpressionBuilder<Tables, "tasks">, filter: RequestFilter) {
  const { workspaceId, keyId, model, visiblePerson, search = "" } = filter;
  const plain = { provider_id: filter.provider, group_id: filter.groupId, person_id: filter.personId };
  const ids = ["tasks.attempt_id", "tasks.request_id", "tasks.upstream_id"] as const;
  return [
    ...(workspaceId === null ? [] : [equalsWithoutIndex(eb.ref("tasks.workspace_id"), workspaceId)]),
    ...(model === undefined ? [] : [equalsWithoutIndex(eb.ref("tasks.model"), model)]),
    ...(keyId === undefined ? [] : [equalsWithoutIndex(eb.ref("tasks.key_id"), keyId)]),
    ...equalsGiven<Row<"tasks">>(plain),
    ...(visiblePerson === undefined ? [] : [eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)])]),
    ...checkConditions("tasks.request_id", filter),
    ...(search === "" ? [] : [eb.or(ids.map((column) => beginsWith(eb.ref(column), search)))]),
  ];
}
