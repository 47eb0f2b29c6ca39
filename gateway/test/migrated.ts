import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CompiledQuery } from "kysely";
import { type Database, dataPaths, migrate, openDatabase } from "#storage/index.ts";

/**
 * Opens a migrated database. The migrations run once per process; their file is copied, or recreated in memory. Other
 * tests cover the migrations themselves (migrate.test.ts and related files) and first starts (acceptance
 * tests).
 */
export async function openMigrated(path: string): Promise<Database> {
  if (path !== ":memory:") await writeMigrated(path);
  const database = openDatabase({ path });
  if (path === ":memory:") await migrateAgain(database);
  return database;
}

/** Creates a migrated database file in an empty data directory. */
export async function migratedIn(dataDir: string): Promise<void> {
  await writeMigrated(dataPaths(dataDir).database);
}

const writeMigrated = migratedFile(migrate);

/** Writes a database file created by `migrations`. They run once per process; later files are copies. */
export function migratedFile(migrations: (database: Database) => Promise<unknown>): (path: string) => Promise<void> {
  let made: Promise<Uint8Array> | null = null;
  return async (path) => {
    made ??= bytesOf(migrations);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, await made, { mode: 0o600, flag: "wx" });
  };
}

async function bytesOf(migrations: (database: Database) => Promise<unknown>): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-migrated-"));
  try {
    const path = join(folder, "sluice.db");
    const database = openDatabase({ path });
    await migrations(database);
    // The last process to close a database merges its side files into it.
    await database.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function migrateAgain(database: Database): Promise<void> {
  made ??= statementsOf();
  const statements = await made;
  await database.kysely.transaction().execute(async (transaction) => {
    for (const statement of statements) await transaction.executeQuery(statement);
  });
}

let made: Promise<readonly CompiledQuery[]> | null = null;

async function statementsOf(): Promise<readonly CompiledQuery[]> {
  const database = openDatabase({ path: ":memory:" });
  await migrate(database);
  const statements: CompiledQuery[] = [];
  for (const { type, name, sql } of await objectsOf(database)) {
    statements.push(CompiledQuery.raw(sql));
    if (type !== "table") continue;
    for (const row of await rowsOf(database, name)) {
      const places = Object.keys(row).map(() => "?");
      statements.push(CompiledQuery.raw(`insert into "${name}" values (${places})`, Object.values(row)));
    }
  }
  await database.close();
  return statements;
}

/** Every object of a database except SQLite's own, in order of creation. */
export async function objectsOf(database: Database): Promise<readonly { type: string; name: string; sql: string }[]> {
  const query =
    "select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid";
  return (await database.kysely.executeQuery<{ type: string; name: string; sql: string }>(CompiledQuery.raw(query)))
    .rows;
}

export async function rowsOf(database: Database, table: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const query = CompiledQuery.raw(`select * from "${table}"`);
  return (await database.kysely.executeQuery<Readonly<Record<string, unknown>>>(query)).rows;
}
