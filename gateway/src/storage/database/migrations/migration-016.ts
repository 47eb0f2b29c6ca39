import type { Kysely, Migration } from "kysely";

/** How long a caller had waited when an attempt began, and what its upstream answered. Of earlier entries nobody knows. */
export function migration016(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("ledger_entries").addColumn("started_after_ms", "double precision").execute();
      await database.schema.alterTable("ledger_entries").addColumn("upstream_status", "integer").execute();
    },
  };
}
