import type { Kysely, Migration } from "kysely";

/** Who may pass calls through to which providers: nobody, until it is granted. And what such a call was. */
export function migration020(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      for (const table of ["workspaces", "groups", "api_keys"]) {
        await database.schema
          .alterTable(table)
          .addColumn("pass_through", "text", (column) => column.notNull().defaultTo("[]"))
          .execute();
      }
      await database.schema.alterTable("ledger_entries").addColumn("operation", "text").execute();
    },
  };
}
