import { bounds, columnsOf, type LedgerEntry, responseTaskId } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import type { NewRow } from "../database/schema.ts";

/** From the end of the call to the first poll of its background response. */
const backgroundFirstPollMs = 2_000;

/** Creates tasks for attempts that ended as `pending`. Idempotent. */
export async function insertPending(connection: Connection, entries: readonly LedgerEntry[]): Promise<void> {
  // Their objects are written separately; the task's entry has none.
  for (const { objects: _, ...entry } of entries) {
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

/** The account is sealed at the first poll. */
function rowOf(entry: LedgerEntry): NewRow<"tasks"> {
  const { at, endedAt, attemptId, workspaceId, groupId, keyId, requestId, model, deployment } = entry;
  const { personId, actorId, upstreamModel, upstreamId, reservedNanoUsd, priceVersion, userAgent } = entry;
  return {
    ...columnsOf({ attemptId, workspaceId, groupId, keyId, personId, actorId, requestId, model, deployment }),
    ...columnsOf({ upstreamModel, upstreamId, reservedNanoUsd, priceVersion, userAgent }),
    id: responseTaskId(attemptId),
    kind: "response",
    provider_id: entry.provider,
    state: "queued",
    final: 0,
    params: "{}",
    request_digest: "",
    metadata: "{}",
    tags: JSON.stringify(entry.tags),
    created_at: at,
    updated_at: endedAt,
    submitted_at: at,
    deadline_at: at + bounds.taskDeadlineMs,
    due_at: endedAt + backgroundFirstPollMs,
    polls: 0,
  };
}
