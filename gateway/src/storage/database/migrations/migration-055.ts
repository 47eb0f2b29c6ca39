import type { Kysely, Migration } from "kysely";

/** Sums of what vendors say that calls cost, and of what the same calls cost by our prices. */
export function migration055(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      for (const table of ["usage_rollups", "usage_days"]) {
        for (const column of ["vendor_cost_nano_usd", "compared_cost_nano_usd"]) {
          await database.schema
            .alterTable(table)
            .addColumn(column, "bigint", (c) => c.notNull().defaultTo(0))
            .execute();
        }
      }
    },
  };
}
