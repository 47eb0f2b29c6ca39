import type { ExpressionBuilder } from "kysely";
import type { Task } from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import type { Connection } from "../database/database.ts";
import type { Tables } from "../database/schema.ts";
import { type TaskRow, taskOf } from "./task-columns.ts";

/** A task by its id; a video of that workspace only, where one is named, and then only while it is not deleted. */
export async function findTask(
  connection: Connection,
  vault: Vault,
  id: string,
  workspaceId: string | null,
): Promise<Task | null> {
  let query = connection.selectFrom("tasks").selectAll().select(requestOfTask).where("id", "=", id);
  if (workspaceId !== null) {
    query = query.where("workspace_id", "=", workspaceId).where("kind", "=", "video").where("deleted_at", "is", null);
  }
  const row = await query.executeTakeFirst();
  return row === undefined ? null : wholeTask(row, vault);
}

export async function findByKey(
  connection: Connection,
  vault: Vault,
  workspaceId: string,
  idempotencyKey: string,
): Promise<Task | null> {
  const row = await connection
    .selectFrom("tasks")
    .selectAll()
    .select(requestOfTask)
    .where("workspace_id", "=", workspaceId)
    .where("idempotency_key", "=", idempotencyKey)
    .executeTakeFirst();
  return row === undefined ? null : wholeTask(row, vault);
}

/** Which tasks, of any workspace, have one of these ids at an upstream. */
export async function findByUpstreamIds(
  connection: Connection,
  upstreamIds: readonly string[],
): Promise<readonly UpstreamIdOwner[]> {
  const owners: UpstreamIdOwner[] = [];
  const wanted = [...new Set(upstreamIds)];
  for (let start = 0; start < wanted.length; start += idsAtOnce) {
    const some = wanted.slice(start, start + idsAtOnce);
    // Always as many, the last one repeated: one statement serves every list.
    const asked = Array.from({ length: idsAtOnce }, (_, index) => some[index] ?? some.at(-1) ?? "");
    const rows = await connection
      .selectFrom("tasks")
      .select(["id", "upstream_id", "provider_id"])
      .where("upstream_id", "in", asked)
      .execute();
    for (const row of rows) {
      owners.push({ taskId: row.id, upstreamId: row.upstream_id ?? "", providerId: row.provider_id });
    }
  }
  return owners;
}

export interface UpstreamIdOwner {
  readonly taskId: string;
  readonly upstreamId: string;
  readonly providerId: string | null;
}

const idsAtOnce = 64;

export function wholeTask(row: TaskRow & { readonly request: string | null }, vault: Vault): Task {
  return taskOf(row, row.request ?? "", vault);
}

/** The caller's body beside the columns of its task. */
export function requestOfTask(eb: ExpressionBuilder<Tables, "tasks">) {
  return eb
    .selectFrom("task_requests")
    .select("task_requests.request")
    .whereRef("task_requests.task_id", "=", "tasks.id")
    .as("request");
}
