import type { Migration } from "kysely";

/** The hours of the ledger that were copied to a bucket, for each bucket: how many entries each copy has, and when it was last compared. */
export function migration047(): Migration {
  return {
    async up(database) {
      await database.schema
        .createTable("exported_hours")
        .addColumn("destination", "text", (column) => column.notNull())
        .addColumn("hour", "bigint", (column) => column.notNull())
        .addColumn("entries", "bigint", (column) => column.notNull())
        .addColumn("checked_at", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("exported_hours_key", ["destination", "hour"])
        .execute();
    },
  };
}
