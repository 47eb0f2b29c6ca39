import type { Kysely, Migration } from "kysely";

/** The pace at which vendors' accounts are asked about tasks, and what processes would otherwise remember of polls, for all of them together. */
export function migration030(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .createTable("account_polls")
        .addColumn("account", "text", (column) => column.primaryKey().notNull())
        .addColumn("row_ends_at", "bigint", (column) => column.notNull())
        .addColumn("free_at", "bigint", (column) => column.notNull())
        .addColumn("given_at", "bigint", (column) => column.notNull())
        .execute();
      for (const column of ["place_at", "gone_since"]) {
        await database.schema.alterTable("tasks").addColumn(column, "bigint").execute();
      }
    },
  };
}
