import { type Kysely, type Migration, sql } from "kysely";
import type { Flavour } from "../database.ts";
import { turnLock } from "../take-turn.ts";

/** The first schema. Never edited after its release: a change is a new migration. */
export function migration001(flavour: Flavour): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await makeTenants(db);
      await makeCatalog(db);
      await makeLedger(db, flavour);
      await makeRollups(db);
      await makeRecords(db, flavour);
    },
  };
}

async function makeTenants(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("workspaces")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("slug", "text", (c) => c.notNull().unique())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("models", "text", (c) => c.notNull())
    .addColumn("limits", "text", (c) => c.notNull())
    .addColumn("budget", "text")
    .addColumn("enabled", "integer", (c) => c.notNull())
    .addColumn("managed_by", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("groups")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("workspace_id", "text", (c) => c.notNull().references("workspaces.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("models", "text", (c) => c.notNull())
    .addColumn("limits", "text", (c) => c.notNull())
    .addColumn("budget", "text")
    .addColumn("managed_by", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("groups_name_unique", ["workspace_id", "name"])
    .execute();
  await db.schema
    .createTable("api_keys")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("workspace_id", "text", (c) => c.notNull().references("workspaces.id"))
    .addColumn("group_id", "text", (c) => c.notNull().references("groups.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("digest", "text", (c) => c.unique())
    .addColumn("prefix", "text", (c) => c.notNull())
    .addColumn("last_four", "text", (c) => c.notNull())
    .addColumn("models", "text")
    .addColumn("allowed_ips", "text")
    .addColumn("limits", "text", (c) => c.notNull())
    .addColumn("budget", "text")
    .addColumn("tags", "text", (c) => c.notNull())
    .addColumn("enabled", "integer", (c) => c.notNull())
    .addColumn("revoked_at", "bigint")
    .addColumn("expires_at", "bigint")
    .addColumn("managed_by", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("api_keys_name_unique", ["workspace_id", "name"])
    .execute();
  // The foreign key is looked up from its parent whenever a group goes.
  await db.schema.createIndex("api_keys_group").on("api_keys").column("group_id").execute();
}

async function makeCatalog(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("providers")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("base_url", "text", (c) => c.notNull())
    .addColumn("sealed_secret", "text")
    .addColumn("allow_private_network", "integer", (c) => c.notNull())
    .addColumn("timeouts", "text", (c) => c.notNull())
    .addColumn("disconnect", "text")
    .addColumn("sealed_settings", "text")
    .addColumn("enabled", "integer", (c) => c.notNull())
    .addColumn("managed_by", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("prices")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("model", "text", (c) => c.notNull())
    .addColumn("price_table", "text", (c) => c.notNull())
    .addColumn("effective_from", "bigint", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("prices_model").on("prices").columns(["model", "effective_from"]).execute();
  await db.schema
    .createTable("models")
    .addColumn("name", "text", (c) => c.primaryKey().notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("owned_by", "text", (c) => c.notNull())
    .addColumn("fallbacks", "text", (c) => c.notNull())
    .addColumn("price_version", "text", (c) => c.references("prices.id"))
    .addColumn("managed_by", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("deployments")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("model", "text", (c) => c.notNull().references("models.name"))
    .addColumn("provider", "text", (c) => c.notNull().references("providers.id"))
    .addColumn("upstream_model", "text", (c) => c.notNull())
    .addColumn("priority", "integer", (c) => c.notNull())
    .addColumn("weight", "integer", (c) => c.notNull())
    .addColumn("enabled", "integer", (c) => c.notNull())
    .addUniqueConstraint("deployments_target_unique", ["model", "provider", "upstream_model"])
    .execute();
  await db.schema.createIndex("deployments_provider").on("deployments").column("provider").execute();
}

const usageColumns = [
  "input_uncached",
  "cache_read",
  "cache_write_5m",
  "cache_write_1h",
  "output",
  "reasoning",
  "audio_input",
  "audio_output",
  "image_input",
  "image_output",
  "images",
  "video_seconds",
  "cost_nano_usd",
];

// No foreign keys: a fact outlives the key, model or workspace it names.
//
// On PostgreSQL the moment is part of the key, which a table in parts by months must have: the key of such a table holds what its
// parts go by. An attempt has one moment, which is in its intent; so it is in the ledger once, there as here.
async function makeLedger(db: Kysely<unknown>, { name: flavour }: Flavour): Promise<void> {
  const words = ["workspace_id", "group_id", "key_id", "model", "requested_model", "provider", "deployment"];
  words.push("upstream_model", "endpoint", "caller_dialect", "upstream_dialect", "user_agent", "tags", "outcome");
  let table = db.schema
    .createTable("ledger_entries")
    .addColumn("attempt_id", "text", (c) => (flavour === "sqlite" ? c.primaryKey().notNull() : c.notNull()))
    .addColumn("request_id", "text", (c) => c.notNull())
    .addColumn("at", "bigint", (c) => c.notNull())
    .addColumn("ended_at", "bigint", (c) => c.notNull());
  for (const word of [...words, "usage_source"]) table = table.addColumn(word, "text", (c) => c.notNull());
  for (const count of [
    "stream",
    "retry_index",
    "input_estimate",
    "reserved_nano_usd",
    "http_status",
    ...usageColumns,
  ]) {
    table = table.addColumn(count, "bigint", (c) => c.notNull());
  }
  if (flavour === "postgres") table = table.addPrimaryKeyConstraint("ledger_entries_pk", ["attempt_id", "at"] as never);
  await table
    .addColumn("price_version", "text")
    .addColumn("error_code", "text")
    .addColumn("raw_usage", "text")
    .addColumn("total_ms", "double precision", (c) => c.notNull())
    .addColumn("first_byte_ms", "double precision")
    .addColumn("first_token_ms", "double precision")
    .addColumn("upstream_ms", "double precision")
    .addColumn("overhead_ms", "double precision")
    .execute();
  const index = (name: string, columns: readonly string[]) =>
    db.schema
      .createIndex(name)
      .on("ledger_entries")
      .columns([...columns])
      .execute();
  await index("ledger_entries_at", ["at", "attempt_id"]);
  await index("ledger_entries_workspace", ["workspace_id", "at", "attempt_id"]);
  await index("ledger_entries_key", ["key_id", "at", "attempt_id"]);
  await index("ledger_entries_request", ["request_id"]);
  await index("ledger_entries_ended", ["ended_at"]);
}

async function makeRollups(db: Kysely<unknown>): Promise<void> {
  const scope = ["hour", "workspace_id", "group_id", "key_id", "model", "provider"];
  let table = db.schema.createTable("usage_rollups").addColumn("hour", "bigint", (c) => c.notNull());
  for (const word of scope.slice(1)) table = table.addColumn(word, "text", (c) => c.notNull());
  for (const count of ["attempts", "requests", "succeeded", ...usageColumns]) {
    table = table.addColumn(count, "bigint", (c) => c.notNull());
  }
  await table.addPrimaryKeyConstraint("usage_rollups_pk", scope as never).execute();
}

async function makeRecords(db: Kysely<unknown>, flavour: Flavour): Promise<void> {
  await db.schema
    .createTable("audit_log")
    .addColumn("seq", flavour.sequenceType, (c) => flavour.sequence(c))
    .addColumn("at", "bigint", (c) => c.notNull())
    .addColumn("actor", "text", (c) => c.notNull())
    .addColumn("action", "text", (c) => c.notNull())
    .addColumn("object", "text", (c) => c.notNull())
    .addColumn("before", "text")
    .addColumn("after", "text")
    .execute();
  await db.schema
    .createTable("changes")
    .addColumn("seq", flavour.sequenceType, (c) => flavour.sequence(c))
    .addColumn("at", "bigint", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("digest", "text")
    .execute();
  if (flavour.name === "postgres") await orderChanges(db);
  await db.schema
    .createTable("settings")
    .addColumn("name", "text", (c) => c.primaryKey().notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .addColumn("managed_by", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("administrators")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("email", "text", (c) => c.notNull())
    .addColumn("password_hash", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .execute();
  // Addresses differ only in case by mistake.
  await sql`create unique index administrators_email on administrators (lower(email))`.execute(db);
}

/**
 * Numbers are given out when a row is inserted, not when it is committed: of two transactions at once, the later number could be
 * seen first, and a reader that goes by the last number would never see the earlier one. So they insert one after the other.
 */
async function orderChanges(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function changes_in_turn() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(${sql.lit(turnLock)});
      return null;
    end $$
  `.execute(db);
  await sql`
    create trigger changes_in_turn before insert on changes for each statement execute function changes_in_turn()
  `.execute(db);
}
