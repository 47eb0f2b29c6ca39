import { type Migration, sql } from "kysely";

/** Tasks that have not ended, by kind and age: for lists of pending responses, and for metrics. */
export function migration057(): Migration {
  return {
    async up(database) {
      await database.schema
        .createIndex("tasks_pending")
        .on("tasks")
        .columns(["kind", "created_at", "attempt_id"])
        .where(sql.ref("final"), "=", sql.lit(0))
        .execute();
    },
  };
}
