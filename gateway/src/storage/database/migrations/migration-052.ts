import type { Migration } from "kysely";

/** A price of a model that begins later. */
export function migration052(): Migration {
  return {
    async up(database) {
      await database.schema.alterTable("models").addColumn("next_price_version", "text").execute();
    },
  };
}
