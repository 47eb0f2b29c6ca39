import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bounds, messageOf } from "#core/index.ts";
import type { Database } from "../database/database.ts";
import { copyDatabaseTo, refuseWithoutRoom } from "../database/database-copy.ts";
import { migrate, migrations, SchemaTooNew, schemaState } from "../database/migrate.ts";
import { rightsProblem } from "../database/postgres/postgres-problems.ts";
import { postgresSettings } from "../database/postgres/postgres-settings.ts";
import type { Migrations } from "../database/schema-step.ts";
import { type DataPaths, DataUnusable } from "../disk/data-directory.ts";
import { lockDirectory } from "../disk/journal-owner.ts";

export interface UpgradeOptions {
  readonly paths: DataPaths;
  /** Unix milliseconds, for the copy's name. */
  readonly now: number;
  /** This process has locked the data directory. */
  readonly held?: boolean;
  /** False: there is another backup. */
  readonly copyFirst?: boolean;
  readonly known?: Migrations;
}

export interface Upgrade {
  /** Migrations that ran. */
  readonly ran: readonly string[];
  /** null: the database was new, or nothing ran. */
  readonly copy: string | null;
}

/** Upgrades an SQLite database. If it has content, copies it first, and refuses while a gateway of another version runs on it. */
export async function upgradeDatabase(database: Database, options: UpgradeOptions): Promise<Upgrade> {
  const { paths, known = migrations } = options;
  const { state, applied, pending, unknown } = await schemaState(database, known);
  if (state === "newer") throw new SchemaTooNew(unknown);
  if (state === "current" || state === "ahead") return { ran: [], copy: null };
  if (state === "empty") return { ran: await migrate(database, known), copy: null };
  const release = options.held === true ? () => undefined : holdForUpgrade(paths, pending);
  try {
    const from = applied.at(-1) ?? "none";
    const copy = options.copyFirst === false ? null : await copyBefore(database, paths, from, options.now);
    return { ran: await migrate(database, known), copy };
  } finally {
    release();
  }
}

/** Upgrades a PostgreSQL database, all or nothing, one process at a time, while others keep running. Makes no copy: use pg_dump. */
export async function upgradePostgres(
  database: Database,
  url: string,
  known: Migrations = migrations,
  migrationMs: number = bounds.postgresMigrationMs,
): Promise<Upgrade> {
  const { state, unknown } = await schemaState(database, known);
  if (state === "newer") throw new SchemaTooNew(unknown);
  if (state === "current" || state === "ahead") return { ran: [], copy: null };
  const { openPostgres } = await import("../database/postgres/open-postgres.ts");
  // On a separate connection, because migrations, and waiting for other processes, may take long.
  const patient = await openPostgres({ url, poolSize: 1, statementMs: migrationMs });
  try {
    return { ran: await migrate(patient, known), copy: null };
  } catch (thrown) {
    throw rightsProblem(thrown, postgresSettings(url));
  } finally {
    await patient.close();
  }
}

/** Number of copies to keep. */
const copiesMax = 3;
const copyMark = ".schema-";

async function copyBefore(database: Database, paths: DataPaths, schema: string, now: number): Promise<string> {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const path = `${paths.database}${copyMark}${schema}-${time}`;
  try {
    await refuseWithoutRoom(paths.database, dirname(path));
    await copyDatabaseTo(database, path);
  } catch (thrown) {
    throw new DataUnusable(
      `The database must be copied before it is brought from schema ${schema} to this version, but ${messageOf(thrown)}. ` +
        "Nothing was changed. Make room, or take a copy elsewhere and run `sluice migrate --without-copy`.",
      { cause: thrown },
    );
  }
  for (const old of copiesBeside(paths.database).slice(0, -copiesMax)) rmSync(old, { force: true });
  return path;
}

/** Oldest first. */
function copiesBeside(databasePath: string): readonly string[] {
  const directory = dirname(databasePath);
  const prefix = `${basename(databasePath)}${copyMark}`;
  const timeOf = (name: string) => name.slice(name.lastIndexOf("-") + 1);
  return readdirSync(directory)
    .filter((name) => name.startsWith(prefix) && /-\d{8}T\d{6}Z$/.test(name))
    .sort((a, b) => timeOf(a).localeCompare(timeOf(b)))
    .map((name) => join(directory, name));
}

function holdForUpgrade(paths: DataPaths, pending: readonly string[]): () => void {
  mkdirSync(paths.journal, { recursive: true, mode: 0o700 });
  try {
    return lockDirectory(paths.journal);
  } catch (thrown) {
    throw new DataUnusable(
      `The database needs the migrations ${pending.join(", ")}, and a gateway of another version is running on ` +
        `${paths.dataDir}. Stop it first.`,
      { cause: thrown },
    );
  }
}
