import type { Delivery } from "#ports/index.ts";
import { type Database, relaxedWrite } from "../database/database.ts";
import { underDueLease, updateDue } from "../database/leases.ts";
import type { Row } from "../database/schema.ts";

type DeliveryRow = Row<"webhook_deliveries">;

/** Takes messages that are due: whoever takes one has until its due time to tell how it went. */
export async function leaseDeliveries(
  database: Database,
  now: number,
  leaseMs: number,
  limit: number,
): Promise<readonly Delivery[]> {
  const rows = await relaxedWrite(database, (connection) =>
    updateDue(database, connection, "webhook_deliveries", { now, limit })
      .set({ due_at: now + leaseMs })
      .returningAll()
      .execute(),
  );
  return rows.map(deliveryOf);
}

export async function recordDelivery(
  database: Database,
  leased: Pick<Delivery, "id" | "dueAt">,
  result: Pick<Delivery, "tries" | "dueAt" | "lastStatus" | "lastError" | "deliveredAt">,
): Promise<void> {
  let update = database.kysely
    .updateTable("webhook_deliveries")
    .set({
      tries: result.tries,
      due_at: result.dueAt,
      last_status: result.lastStatus,
      last_error: result.lastError,
      delivered_at: result.deliveredAt,
    })
    .where("id", "=", leased.id)
    .where("delivered_at", "is", null);
  // That it arrived is true whoever says it. Who stood still knows only of an older failure.
  if (result.deliveredAt === null) update = update.where(underDueLease(leased.dueAt));
  await update.execute();
  if (result.dueAt === null) await forgetOfDeleted(database, leased.id);
}

/** A message that is over goes with its task, where that was deleted before. */
async function forgetOfDeleted({ kysely }: Database, id: string): Promise<void> {
  await kysely
    .deleteFrom("webhook_deliveries")
    .where("id", "=", id)
    .where("due_at", "is", null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("tasks")
          .select("tasks.id")
          .whereRef("tasks.id", "=", "webhook_deliveries.task_id")
          .where("tasks.deleted_at", "is not", null),
      ),
    )
    .execute();
}

export async function deliveriesOf(database: Database, taskId: string): Promise<readonly Delivery[]> {
  const rows = await database.kysely
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(deliveryOf);
}

export function deliveryRow(delivery: Delivery): DeliveryRow {
  return {
    id: delivery.id,
    task_id: delivery.taskId,
    workspace_id: delivery.workspaceId,
    url: delivery.url,
    body: delivery.body,
    tries: delivery.tries,
    due_at: delivery.dueAt,
    created_at: delivery.createdAt,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    delivered_at: delivery.deliveredAt,
  };
}

function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    taskId: row.task_id,
    workspaceId: row.workspace_id,
    url: row.url,
    body: row.body,
    tries: row.tries,
    dueAt: row.due_at,
    createdAt: row.created_at,
    lastStatus: row.last_status,
    lastError: row.last_error,
    deliveredAt: row.delivered_at,
  };
}
