import type { SchemaStep } from "../schema-step.ts";

/** The model that an answer names. Nobody looks an entry up by its upstream's id any more: objects have a table of their own. */
export function migration056(): SchemaStep {
  return {
    contractsFrom: "049",
    async up({ schema }) {
      await schema.alterTable("ledger_entries").addColumn("served_model", "text").execute();
      await schema.dropIndex("ledger_entries_upstream").execute();
    },
  };
}
