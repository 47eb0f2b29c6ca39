import { Migrator, sql } from "kysely";
import type { Database } from "./database.ts";
import { migration001 } from "./migrations/migration-001.ts";
import { type Migrations, readCompatibleFrom, withCompatibility } from "./schema-step.ts";

export const migrations: Migrations = Object.freeze({ "001": migration001 });

/**
 * `empty`: never migrated. `behind`: `pending` migrations. `ahead`: a later version has made compatible changes (`unknown`). `newer`: a
 * later version has made incompatible changes; this one must not write.
 */
export interface SchemaState {
  readonly state: "empty" | "behind" | "current" | "ahead" | "newer";
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  readonly unknown: readonly string[];
}

/** The database was migrated by a later version. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";

  constructor(unknown: readonly string[]) {
    super(
      `The database has migrations of a newer version (${unknown.join(", ")}) that this version cannot work with. ` +
        "Start the version that made them, or a later one.",
    );
  }
}

/** Runs pending migrations, all or none. Resolves to their names. */
export async function migrate(database: Database, known: Migrations = migrations): Promise<readonly string[]> {
  const before = await schemaState(database, known);
  if (before.state === "newer") throw new SchemaTooNew(before.unknown);
  if (before.state === "current" || before.state === "ahead") return [];
  const { error, results } = await migratorOf(database, known).migrateToLatest();
  if (error !== undefined) throw await newerMeanwhile(database, known, error);
  return (results ?? []).map((result) => result.migrationName);
}

/** A later version may have migrated while this process waited. */
async function newerMeanwhile(database: Database, known: Migrations, error: unknown): Promise<unknown> {
  const { state, unknown } = await schemaState(database, known);
  return state === "newer" || state === "ahead" ? new SchemaTooNew(unknown) : error;
}

export async function schemaState(database: Database, known: Migrations = migrations): Promise<SchemaState> {
  const applied = await appliedMigrations(database);
  const names = Object.keys(known).sort();
  const pending = names.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !names.includes(name));
  return { state: await stateOf(database, names, { applied, pending, unknown }), applied, pending, unknown };
}

async function stateOf(
  database: Database,
  names: readonly string[],
  { applied, pending, unknown }: Omit<SchemaState, "state">,
): Promise<SchemaState["state"]> {
  if (applied.length === 0) return "empty";
  if (unknown.length === 0) return pending.length > 0 ? "behind" : "current";
  const latest = names.at(-1) ?? "";
  if (pending.length > 0 || unknown.some((name) => name < latest)) return "newer";
  const earliest = await readCompatibleFrom(database.kysely);
  return earliest !== null && earliest <= latest ? "ahead" : "newer";
}

const table = "migrations";

async function appliedMigrations(database: Database): Promise<readonly string[]> {
  if (!(await hasMigrations(database))) return [];
  const { rows } = await database.kysely.executeQuery<{ name: string }>(
    database.kysely
      .withTables<{ [table]: { name: string } }>()
      .selectFrom(table)
      .select("name")
      .orderBy("name")
      .compile(),
  );
  return rows.map((row) => row.name);
}

async function hasMigrations({ kysely, flavour }: Database): Promise<boolean> {
  const found =
    flavour.name === "sqlite"
      ? sql<number>`exists (select 1 from sqlite_master where type = 'table' and name = ${table})`
      : // Only in the search path: other schemas may have such a table.
        sql<number>`to_regclass(${table}) is not null`;
  const { rows } = await sql<{ found: number }>`select ${found} as found`.execute(kysely);
  return rows[0]?.found === 1;
}

function migratorOf(database: Database, known: Migrations): Migrator {
  return new Migrator({
    db: database.kysely,
    migrationTableName: table,
    migrationLockTableName: "migration_lock",
    provider: {
      getMigrations: async () =>
        Object.fromEntries(Object.keys(known).map((name) => [name, withCompatibility(known, name, database.flavour)])),
    },
  });
}
