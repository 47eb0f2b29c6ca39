import type { BlobInfo, TaskStore } from "#ports/index.ts";
import type { Connection, Database } from "../database/database.ts";

export async function noteMaterial(
  database: Database,
  taskId: string,
  { hash, size }: BlobInfo,
  now: number,
): Promise<void> {
  await database.kysely
    .insertInto("task_materials")
    .values({ task_id: taskId, hash, size_bytes: size, created_at: now, spent: 0 })
    .execute();
}

export async function materialOf(connection: Connection, taskId: string): Promise<BlobInfo | null> {
  const row = await connection
    .selectFrom("task_materials")
    .select(["hash", "size_bytes"])
    .where("task_id", "=", taskId)
    .where("spent", "=", 0)
    .executeTakeFirst();
  return row === undefined ? null : { hash: row.hash, size: row.size_bytes };
}

/** Within the transaction that makes the task: throws when the material was given up in the meantime. */
export async function ownMaterial(transaction: Connection, taskId: string, { hash }: BlobInfo): Promise<void> {
  const owned = await transaction
    .updateTable("task_materials")
    .set({ spent: 0 })
    .where("task_id", "=", taskId)
    .where("hash", "=", hash)
    .where("spent", "=", 0)
    .executeTakeFirst();
  if (owned.numUpdatedRows !== 1n) throw new Error(`the material of ${taskId} was given up before its task was stored`);
}

/** Marks what is not needed any more, and whatever was marked before and not forgotten since. */
export async function spentMaterial(
  database: Database,
  {
    unownedBefore,
    limit,
    taskId,
  }: { readonly unownedBefore: number; readonly limit: number; readonly taskId?: string },
): ReturnType<TaskStore["spentMaterial"]> {
  let spent = database.kysely
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
  if (taskId !== undefined) spent = spent.where("task_materials.task_id", "=", taskId);
  const mark = (connection: Connection) =>
    connection
      .updateTable("task_materials")
      .set({ spent: 1 })
      .where("task_id", "in", spent)
      .returning(["task_id", "hash"])
      .execute();
  const rows =
    database.flavour.name === "sqlite"
      ? await mark(database.kysely)
      : await database.kysely.transaction().execute(async (transaction) => {
          // Whoever makes a task of some of it meanwhile is waited for; then it is looked again whether it is needed.
          await transaction.executeQuery(spent.forUpdate("task_materials"));
          return await mark(transaction);
        });
  return rows.map(({ task_id, hash }) => ({ taskId: task_id, hash }));
}

export async function forgetMaterial(database: Database, taskId: string): Promise<void> {
  await database.kysely.deleteFrom("task_materials").where("task_id", "=", taskId).where("spent", "=", 1).execute();
}
