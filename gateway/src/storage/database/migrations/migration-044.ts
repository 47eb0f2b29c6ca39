import type { Kysely, Migration } from "kysely";

/** Users and groups that a directory keeps here by SCIM, and tokens that may do nothing else. */
export function migration044(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("admin_tokens").addColumn("scope", "text").execute();
      await makeUsers(database);
      await makeGroups(database);
    },
  };
}

async function makeUsers(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("scim_users")
    .addColumn("user_id", "text", (c) => c.primaryKey().notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("user_name", "text", (c) => c.notNull())
    .addColumn("name_key", "text", (c) => c.unique())
    .addColumn("external_id", "text")
    .addColumn("attributes", "text", (c) => c.notNull())
    .addColumn("made", "integer", (c) => c.notNull())
    .addColumn("deactivated", "integer", (c) => c.notNull())
    .addColumn("removed_at", "bigint")
    .addColumn("version", "bigint", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .execute();
  await database.schema.createIndex("scim_users_external").on("scim_users").column("external_id").execute();
}

async function makeGroups(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("scim_groups")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("display_name", "text", (c) => c.notNull())
    .addColumn("name_key", "text", (c) => c.notNull().unique())
    .addColumn("external_id", "text")
    .addColumn("version", "bigint", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .execute();
  await database.schema
    .createTable("scim_members")
    .addColumn("group_id", "text", (c) => c.notNull().references("scim_groups.id").onDelete("cascade"))
    .addColumn("user_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
    .addPrimaryKeyConstraint("scim_members_pk", ["group_id", "user_id"])
    .execute();
  await database.schema.createIndex("scim_members_user").on("scim_members").column("user_id").execute();
}
