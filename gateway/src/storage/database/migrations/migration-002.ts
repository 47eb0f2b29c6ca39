import { type Migration, sql } from "kysely";

/** Where an upstream keeps an answer: the id it gave, so that a later call about it finds its account. */
export function migration002(): Migration {
  return {
    async up(database) {
      await database.schema.alterTable("ledger_entries").addColumn("upstream_id", "text").execute();
      await database.schema
        .createIndex("ledger_entries_upstream")
        .on("ledger_entries")
        .columns(["workspace_id", "upstream_id"])
        .where(sql.ref("upstream_id"), "is not", null)
        .execute();
    },
  };
}
