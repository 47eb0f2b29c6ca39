import type { Kysely, Migration } from "kysely";

/** Attempts under way, for installations that cannot accept that a disk is lost (`ledger.durability: remote`). */
export function migration028(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .createTable("open_attempts")
        .addColumn("attempt_id", "text", (column) => column.primaryKey().notNull())
        .addColumn("owner", "text", (column) => column.notNull())
        .addColumn("heard_at", "bigint", (column) => column.notNull())
        .addColumn("intent", "text", (column) => column.notNull())
        .addColumn("checkpoint", "text")
        .execute();
      await database.schema
        .createIndex("open_attempts_by_owner")
        .on("open_attempts")
        .columns(["owner", "attempt_id"])
        .execute();
    },
  };
}
