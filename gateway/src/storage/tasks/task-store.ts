import { sql } from "kysely";
import { Failure, type Task, type TaskState } from "#core/index.ts";
import type { BlobInfo, TaskStore, Vault } from "#ports/index.ts";
import { type Connection, type Database, heldRows } from "../database/database.ts";
import { ledgerWriter } from "../ledger/ledger-insert.ts";
import { rowOf } from "./task-columns.ts";
import { deliveriesOf, leaseDeliveries, recordDelivery } from "./task-deliveries.ts";
import { forgetPolls, hurryTask, leaseDue, leaseOne, nextDue, takePoll } from "./task-leases.ts";
import { forgetMaterial, materialOf, noteMaterial, ownMaterial, spentMaterial } from "./task-materials.ts";
import { openResponses, openTasks, taskPage } from "./task-page.ts";
import { findByKey, findByUpstreamIds, findTask } from "./task-rows.ts";
import { attachBlob, finishTask, stepTask } from "./task-steps.ts";

interface TaskStoreOptions {
  readonly database: Database;
  readonly vault: Vault;
}

/** Tasks on a database. Any number of them, in any process, may work on the same one. Pages leave the requests out. */
export function createTaskStore({ database, vault }: TaskStoreOptions): TaskStore {
  const writeLedger = ledgerWriter(database);
  return {
    create: (task, material = null) => createTask(database, vault, task, material),
    findByKey: (workspaceId, key) => findByKey(database.kysely, vault, workspaceId, key),
    noteMaterial: (taskId, material, now) => noteMaterial(database, taskId, material, now),
    material: (taskId) => materialOf(database.kysely, taskId),
    spentMaterial: (unownedBefore, limit, taskId) =>
      spentMaterial(database, { unownedBefore, limit, ...(taskId === undefined ? {} : { taskId }) }),
    forgetMaterial: (taskId) => forgetMaterial(database, taskId),
    find: (workspaceId, id) => findTask(database.kysely, vault, id, workspaceId),
    findById: (id) => findTask(database.kysely, vault, id, null),
    page: (filter, cursor, limit) => taskPage(database, vault, { filter, cursor, limit }),
    events: (taskId) => eventsOf(database.kysely, taskId),
    lease: (now, leaseMs, limit) => leaseDue(database, vault, { now, leaseMs, limit }),
    nextDue: nextDue(database),
    leaseOne: (id, now, leaseMs) => leaseOne(database, vault, id, { now, leaseMs }),
    step: (leased, step, now, release) => stepTask(database, vault, leased, { step, now, release }),
    finish: (leased, step, entries, delivery, now) =>
      finishTask({ database, vault, writeLedger }, leased, { step, entries, delivery, now }),
    takePoll: (ask) => takePoll(database, ask),
    forgetPolls: (before) => forgetPolls(database, before),
    hurry: (id, now) => hurryTask(database, id, now),
    attachBlob: (id, blobHash, contentType) => attachBlob(database, id, blobHash, contentType),
    remove: (workspaceId, id, now) => removeTask(database, { workspaceId, id, now }),
    open: () => openTasks(database),
    openResponses: () => openResponses(database),
    withUpstreamIds: (upstreamIds) => findByUpstreamIds(database.kysely, upstreamIds),
    dueDeliveries: (now, leaseMs, limit) => leaseDeliveries(database, now, leaseMs, limit),
    delivered: (leased, result) => recordDelivery(database, leased, result),
    deliveries: (taskId) => deliveriesOf(database, taskId),
  };
}

async function eventsOf(connection: Connection, taskId: string): ReturnType<TaskStore["events"]> {
  const rows = await connection
    .selectFrom("task_events")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("position")
    .execute();
  return rows.map((row) => ({
    taskId: row.task_id,
    at: row.at,
    state: row.state as TaskState,
    detail: row.detail,
  }));
}

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

/** Empties the row of a task that has ended, and shows it to nobody any more. */
async function removeTask(
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
