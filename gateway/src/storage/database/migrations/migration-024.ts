import { type Kysely, type Migration, sql } from "kysely";

const sketches = [
  "call_ms_sketch",
  "call_first_token_ms_sketch",
  "attempt_ms_sketch",
  "attempt_first_token_ms_sketch",
] as const;

/**
 * Rollups get sketches of how long calls and attempts took. No row is written: those that are there keep their counts by doubling
 * spans, and the last hour that has any is noted, so that nobody looks for them in later ones.
 */
export function migration024(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      for (const sketch of sketches) {
        await database.schema
          .alterTable("usage_rollups")
          .addColumn(sketch, "text", (column) => column.notNull().defaultTo(""))
          .execute();
      }
      await sql`
        insert into settings (name, value, managed_by)
        select 'ledger.doubling_spans_until', hour, 'system' from usage_rollups order by hour desc limit 1
      `.execute(database);
    },
  };
}
