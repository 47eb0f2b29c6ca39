import type { Kysely, Migration } from "kysely";

/** Which process does what for the whole installation, and which processes there are. */
export function migration025(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .createTable("leases")
        .addColumn("name", "text", (column) => column.primaryKey().notNull())
        .addColumn("owner", "text")
        .addColumn("fence", "bigint", (column) => column.notNull())
        .addColumn("taken_at", "bigint", (column) => column.notNull())
        .addColumn("until", "bigint", (column) => column.notNull())
        .execute();
      await database.schema
        .createTable("instances")
        .addColumn("id", "text", (column) => column.primaryKey().notNull())
        .addColumn("version", "text", (column) => column.notNull())
        .addColumn("host", "text", (column) => column.notNull())
        .addColumn("started_at", "bigint", (column) => column.notNull())
        .addColumn("seen_at", "bigint", (column) => column.notNull())
        .execute();
    },
  };
}
