import { CompiledQuery } from "kysely";
import { closeDatabase, type Database, dataPaths, migrate, openDatabase } from "#storage/index.ts";

/**
 * Brings an empty database to where the migrations bring one: they run once in a process, and what they have made is made
 * again in a fifth of the time. Migrations themselves are tested by migrate.test.ts and its siblings, first starts by the
 * acceptance tests.
 */
export async function migrated(database: Database): Promise<void> {
  made ??= statementsOf();
  const statements = await made;
  await database.kysely.transaction().execute(async (transaction) => {
    for (const statement of statements) await transaction.executeQuery(statement);
  });
}

/** The same in a data directory that has nothing yet. */
export async function migratedIn(dataDir: string): Promise<void> {
  const database = openDatabase({ path: dataPaths(dataDir).database });
  await migrated(database);
  await closeDatabase(database);
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
  await closeDatabase(database);
  return statements;
}

/** Everything that a database is made of but SQLite's own, in the order it was made. */
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
