import { type Migration, sql } from "kysely";

/** Who made a key and what its last rotation left; where a change was made and from. */
export function migration009(): Migration {
  return {
    async up(database) {
      await database.schema.alterTable("api_keys").addColumn("created_by", "text").execute();
      await database.schema
        .alterTable("api_keys")
        .addColumn("capture", "text", (c) => c.notNull().defaultTo("none"))
        .execute();
      await database.schema.alterTable("api_keys").addColumn("old_digest", "text").execute();
      await database.schema.alterTable("api_keys").addColumn("old_until", "bigint").execute();
      await database.schema
        .createIndex("api_keys_old_digest")
        .on("api_keys")
        .column("old_digest")
        .where(sql.ref("old_digest"), "is not", null)
        .execute();
      // Keys in use are counted by workspace and by group.
      await database.schema
        .createIndex("api_keys_in_use")
        .on("api_keys")
        .columns(["workspace_id", "group_id"])
        .where(sql.ref("revoked_at"), "is", null)
        .execute();
      await database.schema
        .createIndex("api_keys_maker")
        .on("api_keys")
        .columns(["created_by", "name", "id"])
        .where(sql.ref("created_by"), "is not", null)
        .execute();
      await database.schema.alterTable("audit_log").addColumn("ip", "text").execute();
      await database.schema.alterTable("audit_log").addColumn("workspace_id", "text").execute();
      await database.schema
        .createIndex("audit_log_workspace")
        .on("audit_log")
        .columns(["workspace_id", "seq"])
        .execute();
    },
  };
}
