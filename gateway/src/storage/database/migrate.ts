import { Migrator, sql } from "kysely";
import type { Database } from "./database.ts";
import { migration001 } from "./migrations/migration-001.ts";
import { migration002 } from "./migrations/migration-002.ts";
import { migration003 } from "./migrations/migration-003.ts";
import { migration004 } from "./migrations/migration-004.ts";
import { migration005 } from "./migrations/migration-005.ts";
import { migration006 } from "./migrations/migration-006.ts";
import { migration007 } from "./migrations/migration-007.ts";
import { migration008 } from "./migrations/migration-008.ts";
import { migration009 } from "./migrations/migration-009.ts";
import { migration010 } from "./migrations/migration-010.ts";
import { migration011 } from "./migrations/migration-011.ts";
import { migration012 } from "./migrations/migration-012.ts";
import { migration013 } from "./migrations/migration-013.ts";
import { migration014 } from "./migrations/migration-014.ts";
import { migration015 } from "./migrations/migration-015.ts";
import { migration016 } from "./migrations/migration-016.ts";
import { migration017 } from "./migrations/migration-017.ts";
import { migration018 } from "./migrations/migration-018.ts";
import { migration019 } from "./migrations/migration-019.ts";
import { migration020 } from "./migrations/migration-020.ts";
import { migration021 } from "./migrations/migration-021.ts";
import { migration022 } from "./migrations/migration-022.ts";
import { migration023 } from "./migrations/migration-023.ts";
import { migration024 } from "./migrations/migration-024.ts";
import { migration025 } from "./migrations/migration-025.ts";
import { migration026 } from "./migrations/migration-026.ts";
import { migration027 } from "./migrations/migration-027.ts";
import { migration028 } from "./migrations/migration-028.ts";
import { migration029 } from "./migrations/migration-029.ts";
import { migration030 } from "./migrations/migration-030.ts";
import { migration031 } from "./migrations/migration-031.ts";
import { migration032 } from "./migrations/migration-032.ts";
import { migration033 } from "./migrations/migration-033.ts";
import { migration034 } from "./migrations/migration-034.ts";
import { migration035 } from "./migrations/migration-035.ts";
import { migration036 } from "./migrations/migration-036.ts";
import { migration037 } from "./migrations/migration-037.ts";
import { migration038 } from "./migrations/migration-038.ts";
import { migration039 } from "./migrations/migration-039.ts";
import { migration040 } from "./migrations/migration-040.ts";
import { migration041 } from "./migrations/migration-041.ts";
import { migration042 } from "./migrations/migration-042.ts";
import { migration043 } from "./migrations/migration-043.ts";
import { migration044 } from "./migrations/migration-044.ts";
import { migration045 } from "./migrations/migration-045.ts";
import { migration046 } from "./migrations/migration-046.ts";
import { migration047 } from "./migrations/migration-047.ts";
import { migration048 } from "./migrations/migration-048.ts";
import { migration049 } from "./migrations/migration-049.ts";
import { migration050 } from "./migrations/migration-050.ts";
import { migration051 } from "./migrations/migration-051.ts";
import { migration052 } from "./migrations/migration-052.ts";
import { migration053 } from "./migrations/migration-053.ts";
import { migration054 } from "./migrations/migration-054.ts";
import { migration055 } from "./migrations/migration-055.ts";
import { migration056 } from "./migrations/migration-056.ts";
import { migration057 } from "./migrations/migration-057.ts";
import { type Migrations, readCompatibleFrom, toldTo } from "./schema-step.ts";

export const migrations: Migrations = Object.freeze({
  "001": migration001,
  "002": migration002,
  "003": migration003,
  "004": migration004,
  "005": migration005,
  "006": migration006,
  "007": migration007,
  "008": migration008,
  "009": migration009,
  "010": migration010,
  "011": migration011,
  "012": migration012,
  "013": migration013,
  "014": migration014,
  "015": migration015,
  "016": migration016,
  "017": migration017,
  "018": migration018,
  "019": migration019,
  "020": migration020,
  "021": migration021,
  "022": migration022,
  "023": migration023,
  "024": migration024,
  "025": migration025,
  "026": migration026,
  "027": migration027,
  "028": migration028,
  "029": migration029,
  "030": migration030,
  "031": migration031,
  "032": migration032,
  "033": migration033,
  "034": migration034,
  "035": migration035,
  "036": migration036,
  "037": migration037,
  "038": migration038,
  "039": migration039,
  "040": migration040,
  "041": migration041,
  "042": migration042,
  "043": migration043,
  "044": migration044,
  "045": migration045,
  "046": migration046,
  "047": migration047,
  "048": migration048,
  "049": migration049,
  "050": migration050,
  "051": migration051,
  "052": migration052,
  "053": migration053,
  "054": migration054,
  "055": migration055,
  "056": migration056,
  "057": migration057,
});

/**
 * `empty`: never migrated. `behind`: `pending` are still to run. `ahead`: a later version of the program has been here
 * (`unknown` names its migrations) and has only added to what this one uses. `newer`: it has done more; this one must not write.
 */
export interface SchemaState {
  readonly state: "empty" | "behind" | "current" | "ahead" | "newer";
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  readonly unknown: readonly string[];
}

/** The database was migrated by a later version of the program. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";

  constructor(unknown: readonly string[]) {
    super(
      `The database has migrations this version does not know (${unknown.join(", ")}), and they do not let it work beside them. ` +
        "Start the version that made them, or a later one.",
    );
  }
}

/** Runs what is pending, all or nothing, and resolves to the names of what ran. */
export async function migrate(database: Database, known: Migrations = migrations): Promise<readonly string[]> {
  const before = await schemaState(database, known);
  if (before.state === "newer") throw new SchemaTooNew(before.unknown);
  if (before.state === "current" || before.state === "ahead") return [];
  const { error, results } = await migratorOf(database, known).migrateToLatest();
  if (error !== undefined) throw await newerMeanwhile(database, known, error);
  return (results ?? []).map((result) => result.migrationName);
}

/** A later version in another process may have migrated while this one waited for its turn. */
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
  if (flavour.name === "sqlite") return (await kysely.introspection.getTables()).some(({ name }) => name === table);
  // Only where this program's own tables are looked for: other schemas may have a table of this name.
  const { rows } = await sql<{ found: number }>`select to_regclass(${table}) is not null as found`.execute(kysely);
  return rows[0]?.found === 1;
}

function migratorOf(database: Database, known: Migrations): Migrator {
  return new Migrator({
    db: database.kysely,
    migrationTableName: table,
    migrationLockTableName: "migration_lock",
    provider: {
      getMigrations: async () =>
        Object.fromEntries(Object.keys(known).map((name) => [name, toldTo(known, name, database.flavour)])),
    },
  });
}
