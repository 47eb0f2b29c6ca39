import type { Kysely, Migration } from "kysely";

/** What is heard, spoken, ranked and charged by the request is counted and paid. What was before used none of it. */
export function migration018(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      for (const table of ["ledger_entries", "usage_rollups"]) {
        for (const column of ["audio_seconds", "search_units", "characters", "charged_requests"]) {
          await database.schema
            .alterTable(table)
            .addColumn(column, "bigint", (c) => c.notNull().defaultTo(0))
            .execute();
        }
      }
    },
  };
}
