import type { Kysely, Migration } from "kysely";

/** When a video was deleted. Its row stays, emptied: its Idempotency-Key and its name at the upstream are not free again. */
export function migration021(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("tasks").addColumn("deleted_at", "bigint").execute();
    },
  };
}
