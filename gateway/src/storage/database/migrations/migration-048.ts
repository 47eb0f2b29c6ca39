import type { Migration } from "kysely";

/** The context window of a model that the catalogue does not know, or knows wrongly; null: as the catalogue says. */
export function migration048(): Migration {
  return {
    async up(database) {
      await database.schema.alterTable("models").addColumn("context_window", "bigint").execute();
    },
  };
}
