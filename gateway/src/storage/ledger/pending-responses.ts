import { bounds, type LedgerEntry, responseTaskId } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import type { NewRow } from "../database/schema.ts";

/** From the end of the call that began a background response to its first poll. */
const backgroundFirstPollMs = 2_000;

/** Makes tasks of attempts that ended as `pending`. The same attempt again changes nothing. */
export async function insertPending(connection: Connection, entries: readonly LedgerEntry[]): Promise<void> {
  for (const entry of entries) {
    const row = rowOf(entry);
    const made = await connection
      .insertInto("tasks")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doNothing())
      .returning("id")
      .executeTakeFirst();
    if (made === undefined) continue;
    await connection
      .insertInto("task_requests")
      .values({ task_id: row.id, request: JSON.stringify(entry) })
      .execute();
    await connection
      .insertInto("task_events")
      .values({ task_id: row.id, position: 0, at: row.created_at, state: row.state, detail: "" })
      .execute();
  }
}

/** The account is sealed at the first poll, from the config snapshot. */
function rowOf(entry: LedgerEntry): NewRow<"tasks"> {
  const { at, endedAt } = entry;
  return {
    id: responseTaskId(entry.attemptId),
    kind: "response",
    workspace_id: entry.workspaceId,
    group_id: entry.groupId,
    key_id: entry.keyId,
    person_id: entry.personId ?? null,
    request_id: entry.requestId,
    model: entry.model,
    deployment: entry.deployment,
    upstream_model: entry.upstreamModel,
    provider_id: entry.provider,
    upstream_id: entry.upstreamId,
    attempt_id: entry.attemptId,
    state: "queued",
    final: 0,
    asked: "{}",
    reserved_nano_usd: entry.reservedNanoUsd,
    price_version: entry.priceVersion,
    request_digest: "",
    metadata: "{}",
    user_agent: entry.userAgent,
    tags: JSON.stringify(entry.tags),
    created_at: at,
    updated_at: endedAt,
    submitted_at: at,
    deadline_at: at + bounds.taskDeadlineMs,
    due_at: endedAt + backgroundFirstPollMs,
    polls: 0,
  };
}
