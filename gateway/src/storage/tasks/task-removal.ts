import { sql } from "kysely";
import type { TaskStore } from "#ports/index.ts";
import { type Database, heldRows } from "../database/database.ts";

/** Empties the row of a task that has ended, and shows it to nobody any more. */
export async function removeTask(
  database: Database,
  { workspaceId, id, now }: { readonly workspaceId: string; readonly id: string; readonly now: number },
): ReturnType<TaskStore["remove"]> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const task = transaction
      .selectFrom("tasks")
      .select("blob_hash")
      .where("id", "=", id)
      .where("workspace_id", "=", workspaceId)
      .where("final", "=", sql.lit(1))
      .where("deleted_at", "is", null);
    const row = await heldRows(database, task).executeTakeFirst();
    if (row === undefined) return null;
    const emptied = await transaction
      .updateTable("tasks")
      .set({
        deleted_at: now,
        asked: JSON.stringify(nothingAsked),
        output: null,
        blob_hash: null,
        error: null,
        sealed_account: null,
        callback_url: null,
        metadata: "{}",
      })
      .where("id", "=", id)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    if (emptied.numUpdatedRows !== 1n) return null;
    await transaction.updateTable("task_requests").set({ request: "{}" }).where("task_id", "=", id).execute();
    // They hold what was asked for, too. Those that are still to be told go when they have been.
    await transaction.deleteFrom("webhook_deliveries").where("task_id", "=", id).where("due_at", "is", null).execute();
    return { blobHash: row.blob_hash };
  });
}

const nothingAsked = {
  prompt: null,
  ratio: null,
  durationSeconds: null,
  resolution: null,
  audio: null,
  watermark: null,
  seed: null,
};
