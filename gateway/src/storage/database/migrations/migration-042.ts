import type { Kysely, Migration } from "kysely";

/** What limits a person in a workspace. */
export function migration042(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema
        .createTable("person_limits")
        .addColumn("workspace_id", "text", (c) => c.notNull().references("workspaces.id").onDelete("cascade"))
        .addColumn("user_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
        .addColumn("limits", "text", (c) => c.notNull())
        .addColumn("budget", "text")
        .addPrimaryKeyConstraint("person_limits_pk", ["workspace_id", "user_id"])
        .execute();
      await database.schema.createIndex("person_limits_user").on("person_limits").column("user_id").execute();
    },
  };
}
