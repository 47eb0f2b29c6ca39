import type { Kysely, Migration } from "kysely";

/** What could not be carried between a caller's dialect and its upstream's. Of earlier entries nobody knows. */
export function migration017(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("ledger_entries").addColumn("warnings", "text").execute();
    },
  };
}
