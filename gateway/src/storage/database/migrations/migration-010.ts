import type { Migration } from "kysely";

/** Notices on budgets, and what was told: once for each share of each budget in each of its periods. */
export function migration010(): Migration {
  return {
    async up(database) {
      await database.schema
        .createTable("notices")
        .addColumn("id", "text", (c) => c.primaryKey().notNull())
        .addColumn("workspace_id", "text", (c) => c.notNull())
        .addColumn("name", "text", (c) => c.notNull())
        .addColumn("percent", "text", (c) => c.notNull())
        .addColumn("scope", "text")
        .addColumn("scope_id", "text")
        .addColumn("sealed_channel", "text", (c) => c.notNull())
        .addColumn("enabled", "integer", (c) => c.notNull())
        .addColumn("created_at", "bigint", (c) => c.notNull())
        .execute();
      await database.schema.createIndex("notices_workspace").on("notices").column("workspace_id").execute();
      await database.schema
        .createTable("notices_told")
        .addColumn("notice_id", "text", (c) => c.notNull().references("notices.id").onDelete("cascade"))
        .addColumn("budget", "text", (c) => c.notNull())
        .addColumn("period_start", "bigint", (c) => c.notNull())
        .addColumn("percent", "integer", (c) => c.notNull())
        .addColumn("label", "text", (c) => c.notNull())
        .addColumn("used_usd", "double precision", (c) => c.notNull())
        .addColumn("limit_usd", "double precision", (c) => c.notNull())
        .addColumn("at", "bigint", (c) => c.notNull())
        .addColumn("tries", "integer", (c) => c.notNull())
        .addColumn("due_at", "bigint")
        .addColumn("sent_at", "bigint")
        .addColumn("problem", "text")
        .addPrimaryKeyConstraint("notices_told_pk", ["notice_id", "budget", "period_start", "percent"])
        .execute();
      await database.schema.createIndex("notices_told_due").on("notices_told").column("due_at").execute();
    },
  };
}
