import type { Kysely, Migration } from "kysely";

/** What the agents of a group are told to be set to. */
export function migration037(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .createTable("agent_settings")
        .addColumn("group_id", "text", (c) => c.primaryKey().notNull().references("groups.id").onDelete("cascade"))
        .addColumn("settings", "text", (c) => c.notNull())
        .addColumn("checksum", "text", (c) => c.notNull())
        .addColumn("updated_at", "bigint", (c) => c.notNull())
        .execute();
    },
  };
}
