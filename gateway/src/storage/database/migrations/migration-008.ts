import type { Kysely, Migration } from "kysely";
import { peopleLock } from "../people-tables.ts";

/** Members of workspaces, invitations, admin tokens and links to a new password. */
export function migration008(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await makeMembers(db);
      await makeInvitations(db);
      await makeTokens(db);
      await makeResets(db);
      await (db as Kysely<{ settings: Record<string, string> }>)
        .insertInto("settings")
        .values({ name: peopleLock, value: "", managed_by: "system" })
        .execute();
    },
  };
}

// Everything here goes with its user and with its workspace, whoever removes them: nothing is left that could grant.
async function makeMembers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("members")
    .addColumn("workspace_id", "text", (c) => c.notNull().references("workspaces.id").onDelete("cascade"))
    .addColumn("user_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("since", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("members_pk", ["workspace_id", "user_id"])
    .execute();
  await db.schema.createIndex("members_user").on("members").column("user_id").execute();
}

async function makeInvitations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("invitations")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("email", "text", (c) => c.notNull())
    .addColumn("administrator", "integer", (c) => c.notNull())
    .addColumn("workspace_id", "text", (c) => c.references("workspaces.id").onDelete("cascade"))
    .addColumn("role", "text")
    .addColumn("digest", "text", (c) => c.notNull().unique())
    .addColumn("invited_by", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("expires_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("invitations_place").on("invitations").columns(["workspace_id", "email"]).execute();
  await db.schema.createIndex("invitations_inviter").on("invitations").column("invited_by").execute();
}

async function makeTokens(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("admin_tokens")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("digest", "text", (c) => c.notNull().unique())
    .addColumn("prefix", "text", (c) => c.notNull())
    .addColumn("administrator", "integer", (c) => c.notNull())
    .addColumn("workspace_id", "text", (c) => c.references("workspaces.id").onDelete("cascade"))
    .addColumn("role", "text")
    .addColumn("owner_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("made_with", "text", (c) => c.references("admin_tokens.id").onDelete("cascade"))
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("expires_at", "bigint")
    .addColumn("last_used_at", "bigint")
    .execute();
  const index = (name: string, column: string) =>
    db.schema.createIndex(name).on("admin_tokens").column(column).execute();
  await index("admin_tokens_owner", "owner_id");
  await index("admin_tokens_workspace", "workspace_id");
  await index("admin_tokens_made_with", "made_with");
}

async function makeResets(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("password_resets")
    .addColumn("user_id", "text", (c) => c.primaryKey().notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("digest", "text", (c) => c.notNull().unique())
    .addColumn("expires_at", "bigint", (c) => c.notNull())
    .execute();
}
