import { type Kysely, sql } from "kysely";
import { type Database, openDatabase } from "#storage/index.ts";
import { migrate, migrations } from "../src/storage/database/migrate.ts";
import type { Migrations } from "../src/storage/database/schema-step.ts";
import { migratedFile } from "./migrated.ts";

/** This version's schema and the next one's, which only adds: two columns and an index per table, and a table. */
export const oneAhead: Migrations = {
  ...migrations,
  "900": ({ name }) => ({
    async up(connection: Kysely<unknown>): Promise<void> {
      const tables = name === "sqlite" ? ofSqlite : ofPostgres;
      for (const { table } of (await tables.execute(connection)).rows) await widen(connection, table);
      await connection.schema
        .createTable("added")
        .addColumn("id", "text", (column) => column.primaryKey())
        .execute();
    },
  }),
};

/** Migrates a database to the next version's schema. */
export async function migrateOneAhead(database: Database): Promise<void> {
  await migrate(database, oneAhead);
}

/** A new database file with the next version's schema. */
export async function openOneAhead(path: string): Promise<Database> {
  await writeOneAhead(path);
  return openDatabase({ path });
}

const writeOneAhead = migratedFile(migrateOneAhead);

async function widen(connection: Kysely<unknown>, table: string): Promise<void> {
  await connection.schema.alterTable(table).addColumn("added_later", "text").execute();
  await connection.schema
    .alterTable(table)
    .addColumn("counted_later", "bigint", (column) => column.notNull().defaultTo(0))
    .execute();
  await connection.schema.createIndex(`${table}_later`).on(table).column("added_later").execute();
}

const ofSqlite = sql<{ table: string }>`
  select name as "table" from sqlite_schema
  where type = 'table' and name not like 'sqlite_%' and name not like 'migration%'`;

/** Partitions and child tables get their columns from their parent. */
const ofPostgres = sql<{ table: string }>`
  select relname as "table" from pg_class c
  where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace and relname not like 'migration%'
    and not exists (select from pg_inherits where inhrelid = c.oid)`;
