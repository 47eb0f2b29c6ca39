import type { Kysely, Migration } from "kysely";

/** What sources (issuers of single sign-on, SCIM) say of people, and the rights that rules give for it. */
export function migration043(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await makeClaims(database);
      await makeRights(database);
      await makeGroups(database);
    },
  };
}

async function makeClaims(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("person_claims")
    .addColumn("user_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("claims", "text", (c) => c.notNull())
    .addColumn("rules_digest", "text", (c) => c.notNull())
    .addColumn("refresh_token", "text")
    .addColumn("said_at", "bigint", (c) => c.notNull())
    .addColumn("asked_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("person_claims_key", ["user_id", "source"])
    .execute();
  await database.schema
    .createIndex("person_claims_rules")
    .on("person_claims")
    .columns(["source", "rules_digest"])
    .execute();
}

async function makeRights(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("given_rights")
    .addColumn("user_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("workspace_id", "text", (c) => c.notNull())
    .addColumn("role", "text")
    .addColumn("group_id", "text")
    .addColumn("rules", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("given_rights_key", ["user_id", "source", "workspace_id"])
    .execute();
  await database.schema.createIndex("given_rights_place").on("given_rights").column("workspace_id").execute();
}

async function makeGroups(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("person_groups")
    .addColumn("user_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("workspace_id", "text", (c) => c.notNull().references("workspaces.id").onDelete("cascade"))
    .addColumn("group_id", "text", (c) => c.notNull().references("groups.id").onDelete("cascade"))
    .addPrimaryKeyConstraint("person_groups_key", ["user_id", "workspace_id"])
    .execute();
  await database.schema.createIndex("person_groups_group").on("person_groups").column("group_id").execute();
}
