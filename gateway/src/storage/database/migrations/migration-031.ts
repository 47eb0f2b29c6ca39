import type { Kysely, Migration } from "kysely";

/** Tries at passwords, codes and links, for all processes together. */
export function migration031(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .createTable("tries")
        .addColumn("name", "text", (column) => column.primaryKey().notNull())
        .addColumn("count", "bigint", (column) => column.notNull())
        .addColumn("used_up", "bigint", (column) => column.notNull())
        .addColumn("length_ms", "bigint", (column) => column.notNull())
        .addColumn("ends_at", "bigint", (column) => column.notNull())
        .execute();
    },
  };
}
