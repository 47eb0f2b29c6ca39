import { type Kysely, sql } from "kysely";
import type { Flavour } from "../database.ts";
import type { SchemaStep } from "../schema-step.ts";

/**
 * PostgreSQL: the ledger in parts by months of `at` (UTC), and rollups with a tail that inserts only add rows to. The table that was
 * there becomes the first part, for everything up to the end of this month; SQLite stays as it is.
 */
export function migration026({ name }: Flavour): SchemaStep {
  return {
    contractsFrom: "026",
    async up(database: Kysely<unknown>): Promise<void> {
      if (name === "sqlite") return;
      await cutLedger(database);
      await makeTail(database);
    },
  };
}

async function cutLedger(database: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = current_schema() and tablename = 'ledger_entries'`.execute(database);
  await sql`alter table ledger_entries rename to ledger_entries_before`.execute(database);
  for (const index of rows) {
    await sql`alter index ${sql.ref(index.name)} rename to ${sql.ref(index.name.replace("entries", "before"))}`.execute(
      database,
    );
  }
  await sql`
    create table ledger_entries (like ledger_entries_before including defaults, constraint ledger_entries_pk primary key (attempt_id, at))
    partition by range (at)`.execute(database);
  for (const { name, definition } of rows) {
    if (name !== "ledger_entries_pk") await sql.raw(definition).execute(database);
  }
  await sql`create table ledger_entries_default partition of ledger_entries default`.execute(database);
  await keepBefore(database);
}

/** What began later than this month, by whatever clock, goes where it belongs from now on. */
async function keepBefore(database: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ until: number; some: number }>`
    select (extract(epoch from date_trunc('month', now() at time zone 'UTC') + interval '1 month') * 1000)::bigint as until,
      exists (select from ledger_entries_before) as some`.execute(database);
  const [{ until, some } = { until: 0, some: 0 }] = rows;
  if (Number(some) === 0) {
    await sql`drop table ledger_entries_before`.execute(database);
    return;
  }
  await sql`
    with later as (delete from ledger_entries_before where at >= ${sql.lit(until)} returning *)
    insert into ledger_entries select * from later`.execute(database);
  await sql`
    alter table ledger_entries attach partition ledger_entries_before for values from (minvalue) to (${sql.lit(until)})
  `.execute(database);
}

/**
 * A table that inherits: who reads `usage_rollups` reads both, who inserts into it or merges with it has the rollups alone. Its rows
 * come and go all the time, so they are tidied up early.
 */
async function makeTail(database: Kysely<unknown>): Promise<void> {
  await sql`
    create table usage_rollups_tail () inherits (usage_rollups)
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1,
      autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000)`.execute(database);
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = 'usage_rollups' and data_type = 'bigint'
      and column_default is null and column_name <> 'hour'`.execute(database);
  for (const { name } of rows) {
    await sql`alter table usage_rollups_tail alter column ${sql.ref(name)} set default 0`.execute(database);
  }
}
