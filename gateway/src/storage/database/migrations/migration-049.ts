import { type Migration, sql } from "kysely";

/** Objects that vendors keep: responses, threads, files and so on, with the workspace and the account each belongs to. */
export function migration049(): Migration {
  return {
    async up(database) {
      await database.schema
        .createTable("upstream_objects")
        .addColumn("workspace_id", "text", (column) => column.notNull())
        .addColumn("id", "text", (column) => column.notNull())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("provider", "text", (column) => column.notNull())
        .addColumn("key_id", "text", (column) => column.notNull())
        .addColumn("person_id", "text")
        .addColumn("deployment", "text", (column) => column.notNull())
        .addColumn("model", "text", (column) => column.notNull())
        .addColumn("upstream_model", "text", (column) => column.notNull())
        .addColumn("input_tokens", "bigint")
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint")
        .addPrimaryKeyConstraint("upstream_objects_key", ["workspace_id", "id"])
        .execute();
      await database.schema
        .createIndex("upstream_objects_expiring")
        .on("upstream_objects")
        .column("expires_at")
        .where(sql.ref("expires_at"), "is not", null)
        .execute();
    },
  };
}
