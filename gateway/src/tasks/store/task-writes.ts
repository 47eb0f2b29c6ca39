import { sql } from "kysely";
import {
  columnsOf,
  Failure,
  finalTaskStates,
  type LedgerEntry,
  type Task,
  type TaskState,
  type WebhookDelivery,
} from "#core/index.ts";
import type { BlobInfo, Vault } from "#ports/index.ts";
import {
  type Connection,
  type Database,
  deleteRows,
  findRow,
  heldRows,
  ledgerWriter,
  relaxedWrite,
  setColumns,
} from "#storage/tables.ts";
import type { LeasedTask } from "./task-leases.ts";
import { findByKey, newTaskRow, outputColumns, stepColumns, type TaskRow, type TaskStep } from "./task-rows.ts";

/** Longest history of a task; the final event is always kept. */
export const taskEventsMax = 500;

export function taskWrites(database: Database, vault: Vault) {
  const { kysely } = database;
  const writeLedger = ledgerWriter(database);
  return {
    /**
     * Stores a task with its body and first event in one transaction. Returns the existing task, with `created` false, if
     * the idempotency key is taken. Throws if `material` was not recorded or was given up. Only a Failure that is `unsent`
     * guarantees that the task is not stored.
     */
    async create(
      task: Task,
      material: BlobInfo | null = null,
    ): Promise<{ readonly task: Task; readonly created: boolean }> {
      const row = newTaskRow(task, vault);
      let commits = false;
      const creating = kysely.transaction().execute(async (transaction) => {
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
          if (earlier === null) throw new Error(`task ${task.id} conflicts with a missing task`);
          return { task: earlier, created: false };
        }
        if (material !== null) await claimMaterial(transaction, task.id, material);
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
    },
    /** `release` ends the lease. False: the lease was lost, nothing was written. */
    async step(leased: LeasedTask, step: TaskStep, now: number, release: boolean): Promise<boolean> {
      const { state } = step;
      if (state !== undefined && finalTaskStates.has(state))
        throw new Error("a task is ended by finish, not by a step");
      const change: Partial<TaskRow> = {
        ...stepColumns(leased.task.id, step, vault),
        updated_at: now,
        ...(release ? { lease: null, leased_until: null } : {}),
      };
      const update = (connection: Connection) => updateLeased(connection, leased, change);
      const isBookkeeping = Object.keys(step).every((name) => bookkeeping.has(name));
      if (state === undefined) return await (isBookkeeping ? relaxedWrite(database, update) : update(kysely));
      return await kysely.transaction().execute(async (transaction) => {
        const before = await leasedState(transaction, leased);
        if (before === null || !(await update(transaction))) return false;
        if (before !== state)
          await addEvent(transaction, leased.task.id, { at: now, state, detail: step.detail ?? "" });
        return true;
      });
    },
    /**
     * Ends the task: state, history, ledger entries, rollups and webhook in one transaction. False: the lease was lost or
     * the task was final; nothing was written.
     */
    async finish(
      leased: LeasedTask,
      step: TaskStep & { readonly state: TaskState },
      entries: readonly LedgerEntry[],
      delivery: WebhookDelivery | null,
      now: number,
    ): Promise<boolean> {
      if (!finalTaskStates.has(step.state)) throw new Error(`a task does not end as ${step.state}`);
      const { id } = leased.task;
      const change: Partial<TaskRow> = {
        finished_at: now,
        ...stepColumns(id, step, vault),
        updated_at: now,
        final: 1,
        due_at: null,
        lease: null,
        leased_until: null,
      };
      return await kysely.transaction().execute(async (transaction) => {
        if (!(await updateLeased(transaction, leased, change))) return false;
        await addEvent(transaction, id, { at: now, state: step.state, detail: step.detail ?? "" });
        await writeLedger(transaction, entries);
        if (delivery !== null) {
          await transaction
            .insertInto("webhook_deliveries")
            .values(columnsOf(delivery))
            .onConflict((conflict) => conflict.column("id").doNothing())
            .execute();
        }
        return true;
      });
    },
    /** Records a copied result, also for a final task. False: the task has no result any more. */
    async attachBlob(id: string, blobHash: string, contentType: string | null): Promise<boolean> {
      return await kysely.transaction().execute(async (transaction) => {
        const task = transaction.selectFrom("tasks").select("output").where("id", "=", id);
        const row = await heldRows(database, task).executeTakeFirst();
        if (row === undefined || row.output === null) return false;
        const output: NonNullable<Task["output"]> = JSON.parse(row.output);
        const columns = outputColumns({ ...output, blobHash, contentType: contentType ?? output.contentType });
        await setColumns(transaction, "tasks", { id }, columns);
        return true;
      });
    },
    /**
     * Deletes the request and result of an ended task and hides it. Its idempotency key and upstream id stay taken. Returns
     * the blob to remove; null: no such task, or it has not ended.
     */
    async remove(workspaceId: string, id: string, now: number): Promise<{ readonly blobHash: string | null } | null> {
      return await kysely.transaction().execute(async (transaction) => {
        const task = transaction
          .selectFrom("tasks")
          .select("blob_hash as blobHash")
          .where("id", "=", id)
          .where("workspace_id", "=", workspaceId)
          .where("final", "=", sql.lit(1))
          .where("deleted_at", "is", null);
        const row = await heldRows(database, task).executeTakeFirst();
        if (row === undefined) return null;
        const emptied = {
          deleted_at: now,
          params: JSON.stringify(emptyRequest),
          output: null,
          blob_hash: null,
          error: null,
          sealed_account: null,
          callback_url: null,
          metadata: "{}",
        };
        if ((await setColumns(transaction, "tasks", { id, deleted_at: null }, emptied)) === 0) return null;
        await setColumns(transaction, "task_requests", { task_id: id }, { request: "{}" });
        // Webhooks contain the request, too. Pending ones are deleted after delivery.
        await deleteRows(transaction, "webhook_deliveries", { task_id: id, due_at: null });
        return row;
      });
    },
    /** Call before storing material, so that it can be found after a crash. */
    async recordMaterial(taskId: string, { hash, size }: BlobInfo, now: number): Promise<void> {
      await kysely
        .insertInto("task_materials")
        .values({ task_id: taskId, hash, size_bytes: size, created_at: now, spent: 0 })
        .execute();
    },
    async material(taskId: string): Promise<BlobInfo | null> {
      const row = await findRow(kysely, "task_materials", { task_id: taskId, spent: 0 });
      return row === undefined ? null : { hash: row.hash, size: row.size_bytes };
    },
    /**
     * Marks and returns unneeded material, so that no task can claim it any more: of tasks that will not be sent again, and
     * recorded before `unownedBefore` without a task. `only`: of this task.
     */
    async markUnneededMaterial(
      unownedBefore: number,
      limit: number,
      only?: string,
    ): Promise<readonly { readonly taskId: string; readonly hash: string }[]> {
      let spent = kysely
        .selectFrom("task_materials")
        .leftJoin("tasks", "tasks.id", "task_materials.task_id")
        .select("task_materials.task_id")
        .where((eb) =>
          eb.or([
            eb("task_materials.spent", "=", 1),
            eb.and([eb("tasks.id", "is", null), eb("task_materials.created_at", "<", unownedBefore)]),
            eb("tasks.state", "not in", ["accepted", "submitting"]),
          ]),
        )
        .orderBy("task_materials.created_at")
        .limit(limit);
      if (only !== undefined) spent = spent.where("task_materials.task_id", "=", only);
      const mark = (connection: Connection) =>
        connection
          .updateTable("task_materials")
          .set({ spent: 1 })
          .where("task_id", "in", spent)
          .returning(["task_id as taskId", "hash"])
          .execute();
      if (database.flavour.name === "sqlite") return await mark(kysely);
      return await kysely.transaction().execute(async (transaction) => {
        // Wait for transactions that create a task with it, then check again.
        await transaction.executeQuery(spent.forUpdate("task_materials"));
        return await mark(transaction);
      });
    },
    /** Call after its bytes were removed. */
    async deleteMaterial(taskId: string): Promise<void> {
      await deleteRows(kysely, "task_materials", { task_id: taskId, spent: 1 });
    },
  };
}

/** Throws if the material was given up in the meantime. */
async function claimMaterial(transaction: Connection, taskId: string, { hash }: BlobInfo): Promise<void> {
  const owned = await setColumns(transaction, "task_materials", { task_id: taskId, hash, spent: 0 }, { spent: 0 });
  if (owned !== 1) throw new Error(`the material of ${taskId} was given up before its task was stored`);
}

/** Fields that a poll changes even if the task has not changed. Losing such a write costs one extra poll. */
const bookkeeping: ReadonlySet<string> = new Set([
  "progress",
  "dueAt",
  "polls",
  "detail",
  "placeAt",
  "goneSince",
  "unansweredSince",
]);

/** False: the lease was lost. An expired lease is valid until another pass takes the task, so that the upstream's id is not lost. */
async function updateLeased(connection: Connection, leased: LeasedTask, change: Partial<TaskRow>): Promise<boolean> {
  return (await setColumns(connection, "tasks", { id: leased.task.id, lease: leased.lease, final: 0 }, change)) === 1;
}

async function leasedState(connection: Connection, leased: LeasedTask): Promise<string | null> {
  const row = await connection
    .selectFrom("tasks")
    .select("state")
    .where("id", "=", leased.task.id)
    .where("lease", "=", leased.lease)
    .executeTakeFirst();
  return row?.state ?? null;
}

async function addEvent(
  transaction: Connection,
  taskId: string,
  event: { readonly at: number; readonly state: TaskState; readonly detail: string },
): Promise<void> {
  const last = await transaction
    .selectFrom("task_events")
    .select((eb) => eb.fn.max("position").as("position"))
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  const position = (last?.position ?? -1) + 1;
  if (position >= taskEventsMax && !finalTaskStates.has(event.state)) return;
  await transaction
    .insertInto("task_events")
    .values({ task_id: taskId, position, ...event })
    .execute();
}

const emptyRequest: Task["params"] = {
  prompt: null,
  ratio: null,
  durationSeconds: null,
  resolution: null,
  audio: null,
  watermark: null,
  seed: null,
};
