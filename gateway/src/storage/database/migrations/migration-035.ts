import type { Kysely, Migration } from "kysely";

/** Sign-ins of coding agents: devices that wait, what they were given, and the keys that people call with by them. */
export function migration035(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await database.schema.alterTable("api_keys").addColumn("person_id", "text").execute();
      await database.schema.createIndex("api_keys_person").on("api_keys").column("person_id").execute();
      await makeDevices(database);
      await makeSessions(database);
    },
  };
}

async function makeDevices(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("agent_devices")
    .addColumn("device_digest", "text", (c) => c.primaryKey().notNull())
    .addColumn("user_digest", "text", (c) => c.notNull().unique())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addColumn("ip", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("expires_at", "bigint", (c) => c.notNull())
    .addColumn("polled_at", "bigint", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.references("auth_users.id").onDelete("cascade"))
    .addColumn("key_id", "text", (c) => c.references("api_keys.id").onDelete("cascade"))
    .execute();
  await database.schema.createIndex("agent_devices_end").on("agent_devices").column("expires_at").execute();
  await database.schema.createIndex("agent_devices_user").on("agent_devices").column("user_id").execute();
  await database.schema.createIndex("agent_devices_key").on("agent_devices").column("key_id").execute();
}

async function makeSessions(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("agent_sessions")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("user_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"))
    .addColumn("key_id", "text", (c) => c.notNull().references("api_keys.id").onDelete("cascade"))
    .addColumn("generation", "bigint", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addColumn("ip", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("refreshed_at", "bigint", (c) => c.notNull())
    .addColumn("expires_at", "bigint", (c) => c.notNull())
    .execute();
  await database.schema.createIndex("agent_sessions_user").on("agent_sessions").column("user_id").execute();
  await database.schema.createIndex("agent_sessions_key").on("agent_sessions").column("key_id").execute();
}
