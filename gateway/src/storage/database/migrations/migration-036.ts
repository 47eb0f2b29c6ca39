import type { Kysely, Migration } from "kysely";

/** Who a price is from: the catalogue, or (null) somebody who set it. Only the first sort is ever changed by a newer catalogue. */
export function migration036(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("prices").addColumn("origin", "text").execute();
    },
  };
}
