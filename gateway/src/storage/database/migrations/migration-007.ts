import type { Migration } from "kysely";

/** Why a request went as it did, and what was captured of it. */
export function migration007(): Migration {
  return {
    async up(database) {
      await database.schema
        .createTable("request_explanations")
        .addColumn("request_id", "text", (c) => c.primaryKey())
        .addColumn("workspace_id", "text", (c) => c.notNull())
        .addColumn("at", "bigint", (c) => c.notNull())
        .addColumn("explanation", "text", (c) => c.notNull())
        .execute();
      await database.schema.createIndex("request_explanations_at").on("request_explanations").column("at").execute();
      await database.schema
        .createTable("request_captures")
        .addColumn("request_id", "text", (c) => c.primaryKey())
        .addColumn("workspace_id", "text", (c) => c.notNull())
        .addColumn("key_id", "text", (c) => c.notNull())
        .addColumn("at", "bigint", (c) => c.notNull())
        .addColumn("expires_at", "bigint", (c) => c.notNull())
        .addColumn("request_headers", "text", (c) => c.notNull())
        .addColumn("response_headers", "text", (c) => c.notNull())
        .addColumn("request_body", "text")
        .addColumn("request_bytes", "bigint")
        .addColumn("response_body", "text")
        .addColumn("response_bytes", "bigint")
        .addColumn("truncated", "integer", (c) => c.notNull())
        .execute();
      await database.schema
        .createIndex("request_captures_expiry")
        .on("request_captures")
        .column("expires_at")
        .execute();
      await database.schema.createIndex("request_captures_at").on("request_captures").column("at").execute();
    },
  };
}
