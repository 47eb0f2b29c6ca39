import { type Kysely, type Migration, sql } from "kysely";
import type { Flavour } from "../database.ts";

const usage = [
  ...["input_uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning"],
  ...["audio_input", "audio_output", "image_input", "image_output", "images", "video_seconds"],
  ...["web_searches", "file_searches", "code_sessions", "audio_seconds", "search_units", "characters"],
  "charged_requests",
];
const sums = ["attempts", "requests", "succeeded", "cancelled", ...usage, "cost_nano_usd"];
const sketches = ["call_ms_sketch", "call_first_token_ms_sketch", "attempt_ms_sketch", "attempt_first_token_ms_sketch"];
const scope = ["workspace_id", "group_id", "key_id", "model", "provider"];

/**
 * Sums of whole days beside those of hours, with fewer columns of scope. No row is written: a gateway makes them from the rollups, day
 * by day. The rollups themselves note which days have changed, whatever version of the program changes them.
 */
export function migration032({ name }: Flavour): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await makeDays(database);
      await (name === "sqlite" ? noteOnSqlite : noteOnPostgres)(database);
    },
  };
}

async function makeDays(database: Kysely<unknown>): Promise<void> {
  let days = database.schema
    .createTable("usage_days")
    .addColumn("grain", "text", (column) => column.notNull())
    .addColumn("hour", "bigint", (column) => column.notNull());
  for (const word of scope) days = days.addColumn(word, "text", (column) => column.notNull());
  for (const sum of sums) days = days.addColumn(sum, "bigint", (column) => column.notNull());
  for (const sketch of sketches) days = days.addColumn(sketch, "text", (column) => column.notNull());
  await days.addPrimaryKeyConstraint("usage_days_pk", ["grain", "hour", ...scope] as never).execute();
  await sql`create index usage_days_workspace on usage_days (workspace_id, grain, hour)`.execute(database);
  await sql`create index usage_days_group on usage_days (group_id, hour) where grain = 'group'`.execute(database);
  await sql`create index usage_days_key on usage_days (key_id, hour) where grain = 'key'`.execute(database);
  // What the dearest keys are found by, without the rows themselves.
  await sql`
    create index usage_days_cost on usage_days (workspace_id, hour, key_id, cost_nano_usd, attempts) where grain = 'key'
  `.execute(database);
  await database.schema
    .createTable("summed_days")
    .addColumn("day", "bigint", (column) => column.primaryKey().notNull())
    .addColumn("touched", "bigint", (column) => column.notNull())
    .addColumn("summed", "bigint", (column) => column.notNull())
    .addColumn("summed_at", "bigint", (column) => column.notNull())
    .execute();
}

const events = [
  ["insert", "new"],
  ["update", "new"],
  ["delete", "old"],
];

async function noteOnSqlite(database: Kysely<unknown>): Promise<void> {
  for (const [event, row] of events) {
    await sql
      .raw(`
      create trigger usage_rollups_${event} after ${event} on usage_rollups begin
        update summed_days set touched = touched + 1 where day = ${row}.hour - ${row}.hour % 86400000;
      end`)
      .execute(database);
  }
}

/**
 * Whoever changes rollups holds the lock with others, and whoever begins to sum a day holds it alone: so a change that does not know
 * of the day yet is committed before the day is read.
 */
async function noteOnPostgres(database: Kysely<unknown>): Promise<void> {
  await sql`
    create function usage_rollups_touched() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(5310043);
      update summed_days set touched = touched + 1 where day in (select distinct hour - hour % 86400000 from changed);
      return null;
    end $$
  `.execute(database);
  for (const [event, rows] of events) {
    await sql
      .raw(`
      create trigger usage_rollups_${event} after ${event} on usage_rollups referencing ${rows} table as changed
      for each statement execute function usage_rollups_touched()`)
      .execute(database);
  }
}
