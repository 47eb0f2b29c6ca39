import type { Kysely, Migration } from "kysely";
import type { AgentTables } from "../agent-tables.ts";

/** Every version of what the agents of a group are told to be set to. What is there already becomes the first one, of nobody. */
export function migration041(): Migration {
  return {
    async up(opened: Kysely<unknown>): Promise<void> {
      const database = opened as Kysely<AgentTables>;
      await database.schema
        .createTable("agent_settings_versions")
        .addColumn("group_id", "text", (c) => c.notNull().references("groups.id").onDelete("cascade"))
        .addColumn("version", "integer", (c) => c.notNull())
        .addColumn("settings", "text")
        .addColumn("checksum", "text")
        .addColumn("at", "bigint", (c) => c.notNull())
        .addColumn("actor", "text", (c) => c.notNull())
        .addPrimaryKeyConstraint("agent_settings_versions_key", ["group_id", "version"])
        .execute();
      await database
        .insertInto("agent_settings_versions")
        .columns(["group_id", "version", "settings", "checksum", "at", "actor"])
        .expression((eb) =>
          eb
            .selectFrom("agent_settings")
            .select((row) => [
              "group_id",
              row.lit(1).as("version"),
              "settings",
              "checksum",
              "updated_at",
              row.val("").as("actor"),
            ]),
        )
        .execute();
    },
  };
}
