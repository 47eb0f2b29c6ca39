import type { Kysely, Migration } from "kysely";

/** Keys that are service tokens: they expire, and belong to nobody. */
export function migration040(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .alterTable("api_keys")
        .addColumn("service", "integer", (c) => c.notNull().defaultTo(0))
        .execute();
    },
  };
}
