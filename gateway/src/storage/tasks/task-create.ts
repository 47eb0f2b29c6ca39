import { sql } from "kysely";
import { Failure, type Task } from "#core/index.ts";
import type { BlobInfo, TaskStore, Vault } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { rowOf } from "./task-columns.ts";
import { ownMaterial } from "./task-materials.ts";
import { findByKey } from "./task-rows.ts";

/** The task with its body and its first event, all or nothing; or the one that has its idempotency key already. */
export async function createTask(
  database: Database,
  vault: Vault,
  task: Task,
  material: BlobInfo | null,
): ReturnType<TaskStore["create"]> {
  const row = rowOf(task, vault);
  let commits = false;
  const creating = database.kysely.transaction().execute(async (transaction) => {
    const made = await transaction
      .insertInto("tasks")
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(["workspace_id", "idempotency_key"])
          .where(sql.ref("idempotency_key"), "is not", null)
          .doNothing(),
      )
      .returning("id")
      .executeTakeFirst();
    if (made === undefined) {
      const earlier = await findByKey(transaction, vault, task.workspaceId, task.idempotencyKey ?? "");
      if (earlier === null) throw new Error(`task ${task.id} was refused, though nothing stands in its place`);
      return { task: earlier, created: false };
    }
    if (material !== null) await ownMaterial(transaction, task.id, material);
    await transaction.insertInto("task_requests").values({ task_id: task.id, request: task.request }).execute();
    await transaction
      .insertInto("task_events")
      .values({ task_id: task.id, position: 0, at: task.createdAt, state: task.state, detail: "" })
      .execute();
    commits = true;
    return { task, created: true };
  });
  return await creating.catch((thrown: unknown) => {
    throw thrown instanceof Failure && !commits ? thrown.with({ arrival: "unsent" }) : thrown;
  });
}
