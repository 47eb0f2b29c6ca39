import type { Delivery } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { relaxedWrite } from "../database/relaxed-write.ts";
import type { Row } from "../database/schema.ts";

type DeliveryRow = Row<"webhook_deliveries">;

/** Takes messages that are due by moving their due time: whoever takes one has until then to tell how it went. */
export async function leaseDeliveries(
  database: Database,
  now: number,
  leaseMs: number,
  limit: number,
): Promise<readonly Delivery[]> {
  let due = database.kysely
    .selectFrom("webhook_deliveries")
    .select("id")
    .where("due_at", "<=", now)
    .orderBy("due_at")
    .orderBy("id")
    .limit(Math.max(0, Math.floor(limit)));
  if (database.flavour.name === "postgres") due = due.forUpdate().skipLocked();
  const rows = await relaxedWrite(database, (connection) =>
    connection
      .updateTable("webhook_deliveries")
      .set({ due_at: now + leaseMs })
      .where("id", "in", due)
      .returningAll()
      .execute(),
  );
  return rows.map(deliveryOf);
}

export async function recordDelivery(
  database: Database,
  id: string,
  result: Pick<Delivery, "tries" | "dueAt" | "lastStatus" | "lastError" | "deliveredAt">,
): Promise<void> {
  await database.kysely
    .updateTable("webhook_deliveries")
    .set({
      tries: result.tries,
      due_at: result.dueAt,
      last_status: result.lastStatus,
      last_error: result.lastError,
      delivered_at: result.deliveredAt,
    })
    .where("id", "=", id)
    // Who stood still while somebody else delivered it knows only of an older failure.
    .where("delivered_at", "is", null)
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
