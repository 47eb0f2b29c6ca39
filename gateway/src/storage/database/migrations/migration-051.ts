import type { Migration } from "kysely";

/** What an entry's cost comes from beside its price: the vendor's own figure, how the answer was served, what has no price. */
export function migration051(): Migration {
  return {
    async up(database) {
      const { schema } = database;
      await schema
        .alterTable("ledger_entries")
        .addColumn("cost_source", "text", (column) => column.notNull().defaultTo("price"))
        .execute();
      await schema.alterTable("ledger_entries").addColumn("vendor_cost_nano_usd", "bigint").execute();
      await schema.alterTable("ledger_entries").addColumn("own_cost_nano_usd", "bigint").execute();
      await schema.alterTable("ledger_entries").addColumn("served", "text").execute();
      await schema.alterTable("ledger_entries").addColumn("unpriced", "text").execute();
    },
  };
}
