import { sql } from "kysely";
import type { LeasedTask, Vault } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { leaseIsFree, newLeaseToken, updateDue } from "../database/leases.ts";
import { relaxedWrite } from "../database/relaxed-write.ts";
import { writtenOnce } from "../database/written-once.ts";
import { requestOfTask, wholeTask } from "./task-rows.ts";

/** Takes tasks that are due and that nobody works on, in one statement: what two passes see, only one gets. */
export async function leaseDue(
  database: Database,
  vault: Vault,
  { now, leaseMs, limit }: { readonly now: number; readonly leaseMs: number; readonly limit: number },
): Promise<readonly LeasedTask[]> {
  const lease = newLeaseToken();
  const untilMs = now + leaseMs;
  const rows = await relaxedWrite(database, (connection) =>
    updateDue(database, connection, "tasks", { now, limit, only: leaseIsFree(now) })
      .set({ lease, leased_until: untilMs })
      .where("final", "=", sql.lit(0))
      .returningAll()
      .returning(requestOfTask)
      .execute(),
  );
  const tasks = rows.map((row) => ({ task: wholeTask(row, vault), lease, untilMs }));
  return tasks.sort((a, b) => (a.task.dueAt ?? 0) - (b.task.dueAt ?? 0) || (a.task.id < b.task.id ? -1 : 1));
}

/** Of what `leaseDue` and `leaseDeliveries` would take, when the first can be taken. One statement, which writes nothing. */
export function nextDue(database: Database): (now: number) => Promise<number | null> {
  const written = writtenOnce((place: (name: "now") => never) =>
    database.reading.selectNoFrom((eb) => [
      eb
        .selectFrom("tasks")
        .select("due_at")
        .where("due_at", "is not", null)
        .where("final", "=", sql.lit(0))
        .where(leaseIsFree(place("now")))
        .orderBy("due_at")
        .limit(1)
        .as("task"),
      eb
        .selectFrom("webhook_deliveries")
        .select("due_at")
        .where("due_at", "is not", null)
        .orderBy("due_at")
        .limit(1)
        .as("message"),
    ]),
  );
  return async (now) => {
    const { rows } = await database.reading.executeQuery(written({ now }));
    const { task = null, message = null } = rows[0] ?? {};
    if (task === null || message === null) return task ?? message;
    return Math.min(task, message);
  };
}

export async function leaseOne(
  database: Database,
  vault: Vault,
  id: string,
  { now, leaseMs }: { readonly now: number; readonly leaseMs: number },
): Promise<LeasedTask | null> {
  const lease = newLeaseToken();
  const untilMs = now + leaseMs;
  const row = await relaxedWrite(database, (connection) =>
    connection
      .updateTable("tasks")
      .set({ lease, leased_until: untilMs })
      .where("id", "=", id)
      .where("final", "=", sql.lit(0))
      .where(leaseIsFree(now))
      .returningAll()
      .returning(requestOfTask)
      .executeTakeFirst(),
  );
  return row === undefined ? null : { task: wholeTask(row, vault), lease, untilMs };
}

/** What is due sooner stays so, that a hint never puts a look off. */
export async function hurryTask(database: Database, id: string, now: number): Promise<void> {
  await relaxedWrite(database, (connection) =>
    connection
      .updateTable("tasks")
      .set({ due_at: now })
      .where("id", "=", id)
      .where("final", "=", sql.lit(0))
      .where((eb) => eb.or([eb("due_at", "is", null), eb("due_at", ">", now)]))
      .execute(),
  );
}
