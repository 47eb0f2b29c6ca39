import type { TaskState } from "#core/index.ts";
import type { TaskStore, Vault } from "#ports/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { ledgerWriter } from "../ledger/ledger-insert.ts";
import { forgetPolls, takePoll } from "./account-polls.ts";
import { createTask } from "./task-create.ts";
import { deliveriesOf, leaseDeliveries, recordDelivery } from "./task-deliveries.ts";
import { hurryTask, leaseDue, leaseOne, nextDue } from "./task-leases.ts";
import { forgetMaterial, materialOf, noteMaterial, spentMaterial } from "./task-materials.ts";
import { openResponses, openTasks, taskPage } from "./task-page.ts";
import { removeTask } from "./task-removal.ts";
import { findByKey, findByUpstreamIds, findTask } from "./task-rows.ts";
import { attachBlob, finishTask, stepTask } from "./task-steps.ts";

export interface TaskStoreOptions {
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
