import type { Migration } from "kysely";

/** Refusals of one key in one second that are alike are one entry, which says how many calls it stands for. */
export function migration015(): Migration {
  return {
    async up(database) {
      await database.schema
        .alterTable("ledger_entries")
        .addColumn("calls", "integer", (c) => c.notNull().defaultTo(1))
        .execute();
    },
  };
}
