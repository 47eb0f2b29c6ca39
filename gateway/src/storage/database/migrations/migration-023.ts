import type { Kysely, Migration } from "kysely";

/** Users choose the language in which the console speaks to them; before they do, their browser decides. */
export function migration023(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("auth_users").addColumn("language", "text").execute();
    },
  };
}
