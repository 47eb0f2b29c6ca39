import { type Kysely, type Migration, sql } from "kysely";

const hourMs = 3_600_000;

/** What callers cancelled is counted apart from what failed, also of the entries that are kept. */
export function migration022(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .alterTable("usage_rollups")
        .addColumn("cancelled", "bigint", (column) => column.notNull().defaultTo(0))
        .execute();
      await sql`
        update usage_rollups set cancelled = counted.calls
        from (
          select at - at % ${sql.lit(hourMs)} as hour, workspace_id, group_id, key_id, model, provider, sum(calls) as calls
          from ledger_entries where outcome = 'cancelled'
          group by 1, 2, 3, 4, 5, 6
        ) as counted
        where usage_rollups.hour = counted.hour
          and usage_rollups.workspace_id = counted.workspace_id
          and usage_rollups.group_id = counted.group_id
          and usage_rollups.key_id = counted.key_id
          and usage_rollups.model = counted.model
          and usage_rollups.provider = counted.provider
      `.execute(database);
    },
  };
}
