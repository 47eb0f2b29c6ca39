import { type Migration, sql } from "kysely";

/** Tasks of another kind than videos: background responses. */
export function migration054(): Migration {
  return {
    async up(database) {
      await database.schema
        .alterTable("tasks")
        .addColumn("kind", "text", (column) => column.notNull().defaultTo("video"))
        .execute();
      await database.schema
        .createIndex("tasks_request")
        .on("tasks")
        .column("request_id")
        .where(sql.ref("final"), "=", sql.lit(0))
        .execute();
    },
  };
}
