import type { Kysely, Migration } from "kysely";

/** What upstreams do for calls by tools of their own is counted and paid. What was before used none that is known. */
export function migration014(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      for (const table of ["ledger_entries", "usage_rollups"]) {
        for (const column of ["web_searches", "file_searches", "code_sessions"]) {
          await database.schema
            .alterTable(table)
            .addColumn(column, "bigint", (c) => c.notNull().defaultTo(0))
            .execute();
        }
      }
    },
  };
}
