import { type Kysely, type Migration, sql } from "kysely";

/**
 * What becomes of calls of a model without a price. Those that have none at the upgrade stay callable (`upgrade`), and the
 * console says so: nothing stops because a new version has come.
 */
export function migration034(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("models").addColumn("unpriced", "text").execute();
      await sql`update models set unpriced = 'upgrade' where price_version is null`.execute(database);
    },
  };
}
