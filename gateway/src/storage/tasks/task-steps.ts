import { sql } from "kysely";
import { finalTaskStates, type LedgerEntry, type Task, type TaskState } from "#core/index.ts";
import type { Delivery, LeasedTask, TaskStep, Vault } from "#ports/index.ts";
import { type Connection, type Database, heldRows, relaxedWrite } from "../database/database.ts";
import type { LedgerWriter } from "../ledger/ledger-insert.ts";
import { outputColumns, stepColumns, type TaskRow } from "./task-columns.ts";
import { deliveryRow } from "./task-deliveries.ts";

/** Changes in one task's history; the final one is always kept. */
export const taskEventsMax = 500;

/** Writes a step under the lease, with an event when the state changes. */
export async function stepTask(
  database: Database,
  vault: Vault,
  leased: LeasedTask,
  { step, now, release }: { readonly step: TaskStep; readonly now: number; readonly release: boolean },
): Promise<boolean> {
  const { state } = step;
  if (state !== undefined && finalTaskStates.has(state)) throw new Error("a task is ended by finish, not by a step");
  const change: Partial<TaskRow> = {
    ...stepColumns(leased.task.id, step, vault),
    updated_at: now,
    ...(release ? { lease: null, leased_until: null } : {}),
  };
  const update = (connection: Connection) => updateLeased(connection, leased, change);
  if (state === undefined) {
    return isBookkeeping(step) ? await relaxedWrite(database, update) : await update(database.kysely);
  }
  return await database.kysely.transaction().execute(async (transaction) => {
    const before = await leasedState(transaction, leased);
    if (before === null || !(await update(transaction))) return false;
    if (before !== state) await addEvent(transaction, leased.task.id, { at: now, state, detail: step.detail ?? "" });
    return true;
  });
}

export interface EndDependencies {
  readonly database: Database;
  readonly vault: Vault;
  readonly writeLedger: LedgerWriter;
}

export interface TaskEnd {
  readonly step: TaskStep & { readonly state: TaskState };
  readonly entries: readonly LedgerEntry[];
  readonly delivery: Delivery | null;
  readonly now: number;
}

/** State, history, ledger, rollups and message: together or not at all. */
export async function finishTask(
  { database, vault, writeLedger }: EndDependencies,
  leased: LeasedTask,
  { step, entries, delivery, now }: TaskEnd,
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
  return await database.kysely.transaction().execute(async (transaction) => {
    if (!(await updateLeased(transaction, leased, change))) return false;
    await addEvent(transaction, id, { at: now, state: step.state, detail: step.detail ?? "" });
    await writeLedger(transaction, entries);
    if (delivery !== null) {
      await transaction
        .insertInto("webhook_deliveries")
        .values(deliveryRow(delivery))
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute();
    }
    return true;
  });
}

export async function attachBlob(
  database: Database,
  id: string,
  blobHash: string,
  contentType: string | null,
): Promise<boolean> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const task = transaction.selectFrom("tasks").select("output").where("id", "=", id);
    const row = await heldRows(database, task).executeTakeFirst();
    if (row === undefined || row.output === null) return false;
    const output: NonNullable<Task["output"]> = JSON.parse(row.output);
    await transaction
      .updateTable("tasks")
      .set(outputColumns({ ...output, blobHash, contentType: contentType ?? output.contentType }))
      .where("id", "=", id)
      .execute();
    return true;
  });
}

/** What a poll that learned nothing writes: losing it costs one poll. */
const bookkeeping: ReadonlySet<string> = new Set([
  "progress",
  "dueAt",
  "polls",
  "detail",
  "placeAt",
  "goneSince",
  "unansweredSince",
]);

function isBookkeeping(step: TaskStep): boolean {
  return Object.keys(step).every((name) => bookkeeping.has(name));
}

/**
 * False when the lease was lost. One that ran out counts while nobody took the task: what its holder learned meanwhile, such
 * as the upstream's id, is not to be had again.
 */
async function updateLeased(connection: Connection, leased: LeasedTask, change: Partial<TaskRow>): Promise<boolean> {
  const result = await connection
    .updateTable("tasks")
    .set(change)
    .where("id", "=", leased.task.id)
    .where("lease", "=", leased.lease)
    .where("final", "=", sql.lit(0))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
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
