import type { Kysely, Migration } from "kysely";

/**
 * Whose call it was. Keys with a secret may belong to a person (`owner_id`); entries, tasks and rollups name the person, and what was
 * written before names nobody. A rollup has one person, since its key has: where a key changed hands within the hour it says `*`.
 */
export function migration039(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("api_keys").addColumn("owner_id", "text").execute();
      await database.schema.createIndex("api_keys_owner").on("api_keys").column("owner_id").execute();
      for (const table of ["ledger_entries", "tasks", "usage_rollups", "usage_days"]) {
        await database.schema.alterTable(table).addColumn("person_id", "text").execute();
      }
    },
  };
}
