import type { Kysely, Migration } from "kysely";

/** Since when, after a task's deadline, its vendor has not answered: so long it is not given up. */
export function migration038(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("tasks").addColumn("unanswered_since", "bigint").execute();
    },
  };
}
