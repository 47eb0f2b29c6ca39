import type { Kysely, Migration } from "kysely";

/** What a process tells of its journal when it says that it is there. */
export function migration033(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("instances").addColumn("journal_lag", "bigint").execute();
    },
  };
}
