import type { Kysely, Migration } from "kysely";

/** Classes of usage: sound read from a cache, reasoning with a price of its own, searches of maps, and what no class explains. */
export function migration050(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      for (const table of ["ledger_entries", "usage_rollups", "usage_days"]) {
        for (const column of ["cache_read_audio", "separate_reasoning", "map_searches", "unexplained"]) {
          await database.schema
            .alterTable(table)
            .addColumn(column, "bigint", (c) => c.notNull().defaultTo(0))
            .execute();
        }
      }
    },
  };
}
