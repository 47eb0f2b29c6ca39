import { type Kysely, type Migration, sql } from "kysely";

/** Video tasks with their history and messages, and the assets they may refer to. */
export function migration003(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await makeTasks(db);
      await indexTasks(db);
      await makeTaskRecords(db);
      await makeAssets(db);
      await makeBindings(db);
    },
  };
}

// No foreign keys: like a fact in the ledger, a task outlives the key, model, provider or workspace it names.
async function makeTasks(db: Kysely<unknown>): Promise<void> {
  let table = db.schema.createTable("tasks").addColumn("id", "text", (c) => c.primaryKey().notNull());
  const words = ["workspace_id", "group_id", "key_id", "request_id", "model", "deployment", "upstream_model"];
  words.push("attempt_id", "state", "asked", "request_digest", "metadata", "user_agent", "tags");
  for (const word of words) table = table.addColumn(word, "text", (c) => c.notNull());
  const maybeWords = ["provider_id", "sealed_account", "upstream_id", "output", "blob_hash", "error", "usage"];
  maybeWords.push("raw_usage", "price_version", "price_table", "idempotency_key", "callback_url", "lease");
  for (const word of maybeWords) table = table.addColumn(word, "text");
  for (const count of ["reserved_nano_usd", "created_at", "updated_at", "deadline_at"]) {
    table = table.addColumn(count, "bigint", (c) => c.notNull());
  }
  for (const count of ["cost_nano_usd", "submitted_at", "started_at", "finished_at", "due_at", "leased_until"]) {
    table = table.addColumn(count, "bigint");
  }
  await table
    .addColumn("final", "integer", (c) => c.notNull())
    .addColumn("polls", "integer", (c) => c.notNull())
    .addColumn("progress", "double precision")
    .execute();
  await db.schema
    .createTable("task_requests")
    .addColumn("task_id", "text", (c) => c.primaryKey().notNull().references("tasks.id").onDelete("cascade"))
    .addColumn("request", "text", (c) => c.notNull())
    .execute();
}

async function indexTasks(db: Kysely<unknown>): Promise<void> {
  // Lists page newest first; each filter that may match few of many has an index of its own.
  const place = ["created_at", "id"];
  await index(db, "tasks_page", "tasks", ["workspace_id", ...place]);
  await index(db, "tasks_page_key", "tasks", ["workspace_id", "key_id", ...place]);
  await index(db, "tasks_page_model", "tasks", ["workspace_id", "model", ...place]);
  await index(db, "tasks_page_state", "tasks", ["workspace_id", "state", ...place]);
  await db.schema
    .createIndex("tasks_idempotency_unique")
    .unique()
    .on("tasks")
    .columns(["workspace_id", "idempotency_key"])
    .where(sql.ref("idempotency_key"), "is not", null)
    .execute();
  await indexPresent(db, "tasks_due", "tasks", ["due_at", "leased_until"]);
  await indexPresent(db, "tasks_upstream", "tasks", ["upstream_id", "provider_id"]);
  await indexPresent(db, "tasks_blob", "tasks", ["blob_hash"]);
  await sql`create index tasks_open on tasks (id) where final = 0`.execute(db);
}

async function makeTaskRecords(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("task_events")
    .addColumn("task_id", "text", (c) => c.notNull().references("tasks.id").onDelete("cascade"))
    .addColumn("position", "integer", (c) => c.notNull())
    .addColumn("at", "bigint", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("detail", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("task_events_pk", ["task_id", "position"])
    .execute();
  await db.schema
    .createTable("webhook_deliveries")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("task_id", "text", (c) => c.notNull().references("tasks.id").onDelete("cascade"))
    .addColumn("workspace_id", "text", (c) => c.notNull())
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("due_at", "bigint")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("last_status", "integer")
    .addColumn("last_error", "text")
    .addColumn("delivered_at", "bigint")
    .execute();
  await index(db, "webhook_deliveries_task", "webhook_deliveries", ["task_id"]);
  await indexPresent(db, "webhook_deliveries_due", "webhook_deliveries", ["due_at"]);
}

async function makeAssets(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("asset_groups")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("workspace_id", "text", (c) => c.notNull())
    .addColumn("platform", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("project_name", "text", (c) => c.notNull())
    .addColumn("provider_id", "text")
    .addColumn("upstream_id", "text")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .execute();
  await index(db, "asset_groups_page", "asset_groups", ["workspace_id", "created_at", "id"]);
  await db.schema
    .createTable("assets")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("workspace_id", "text", (c) => c.notNull())
    .addColumn("group_id", "text", (c) => c.notNull().references("asset_groups.id").onDelete("cascade"))
    .addColumn("platform", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("source_url", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("error", "text")
    .addColumn("provider_id", "text")
    .addColumn("upstream_id", "text")
    .addColumn("blob_hash", "text")
    .addColumn("size_bytes", "bigint")
    .addColumn("content_type", "text")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addColumn("due_at", "bigint")
    .execute();
  await index(db, "assets_page", "assets", ["workspace_id", "created_at", "id"]);
  await index(db, "assets_page_group", "assets", ["group_id", "created_at", "id"]);
  await indexPresent(db, "assets_due", "assets", ["due_at"]);
  await indexPresent(db, "assets_blob", "assets", ["blob_hash"]);
}

async function makeBindings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("asset_bindings")
    .addColumn("asset_id", "text", (c) => c.notNull().references("assets.id").onDelete("cascade"))
    .addColumn("provider_id", "text", (c) => c.notNull())
    .addColumn("upstream_group_id", "text", (c) => c.notNull())
    .addColumn("upstream_id", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("asset_bindings_pk", ["asset_id", "provider_id"])
    .execute();
}

async function index(db: Kysely<unknown>, name: string, table: string, columns: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
    .execute();
}

/** An index over the rows that have a value in its first column. */
async function indexPresent(
  db: Kysely<unknown>,
  name: string,
  table: string,
  columns: readonly [string, ...string[]],
): Promise<void> {
  await db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
    .where(sql.ref(columns[0]), "is not", null)
    .execute();
}
