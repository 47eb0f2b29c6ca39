import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { LeasedTask, Vault } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { relaxedWrite } from "../database/relaxed-write.ts";
import { requestOfTask, wholeTask } from "./task-rows.ts";

/** Takes tasks that are due and that nobody works on, in one statement: what two passes see, only one gets. */
export async function leaseDue(
  database: Database,
  vault: Vault,
  { now, leaseMs, limit }: { readonly now: number; readonly leaseMs: number; readonly limit: number },
): Promise<readonly LeasedTask[]> {
  const lease = newToken();
  const untilMs = now + leaseMs;
  let due = database.kysely
    .selectFrom("tasks")
    .select("id")
    .where("due_at", "<=", now)
    .where((eb) => eb.or([eb("leased_until", "is", null), eb("leased_until", "<=", now)]))
    .orderBy("due_at")
    .orderBy("id")
    .limit(Math.max(0, Math.floor(limit)));
  // Where several passes write at once, each takes what the others have not locked.
  if (database.flavour.name === "postgres") due = due.forUpdate().skipLocked();
  const rows = await relaxedWrite(database, (connection) =>
    connection
      .updateTable("tasks")
      .set({ lease, leased_until: untilMs })
      .where("id", "in", due)
      .where("final", "=", sql.lit(0))
      .returningAll()
      .returning(requestOfTask)
      .execute(),
  );
  const tasks = rows.map((row) => ({ task: wholeTask(row, vault), lease, untilMs }));
  return tasks.sort((a, b) => (a.task.dueAt ?? 0) - (b.task.dueAt ?? 0) || (a.task.id < b.task.id ? -1 : 1));
}

export async function leaseOne(
  database: Database,
  vault: Vault,
  id: string,
  { now, leaseMs }: { readonly now: number; readonly leaseMs: number },
): Promise<LeasedTask | null> {
  const lease = newToken();
  const untilMs = now + leaseMs;
  const row = await relaxedWrite(database, (connection) =>
    connection
      .updateTable("tasks")
      .set({ lease, leased_until: untilMs })
      .where("id", "=", id)
      .where("final", "=", sql.lit(0))
      .where((eb) => eb.or([eb("leased_until", "is", null), eb("leased_until", "<=", now)]))
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

/** Not to be guessed, and never given out twice: a pass that lost its lease cannot write with it. */
function newToken(): string {
  return randomBytes(16).toString("base64url");
}
