import { type Kysely, type Migration, sql } from "kysely";

/**
 * Where the material of video tasks is kept that is too large for a row. Larger requests of tasks that were sent already are
 * let go of: nobody sends them again.
 */
export function migration019(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .createTable("task_materials")
        .addColumn("task_id", "text", (column) => column.primaryKey())
        .addColumn("hash", "text", (column) => column.notNull())
        .addColumn("size_bytes", "bigint", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("spent", "integer", (column) => column.notNull())
        .execute();
      await sql`
        update task_requests set request = '{}'
        where length(request) > 262144
          and task_id not in (select id from tasks where state in ('accepted', 'submitting'))
      `.execute(database);
    },
  };
}
