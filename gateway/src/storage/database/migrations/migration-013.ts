import type { Migration } from "kysely";

/** What a call without a limit of its own may at most produce; null: nobody has said it. */
export function migration013(): Migration {
  return {
    async up(database) {
      await database.schema.alterTable("models").addColumn("max_output_tokens", "bigint").execute();
    },
  };
}
