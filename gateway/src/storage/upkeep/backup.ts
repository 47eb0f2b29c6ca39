import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import { copyDatabaseTo } from "../database/database-copy.ts";
import { SchemaTooNew, schemaState } from "../database/migrate.ts";
import { openDatabase, openReadOnly } from "../database/open-database.ts";
import { chunksOf } from "../database/reconcile.ts";
import type { Row } from "../database/schema.ts";
import { type DataPaths, DataUnusable } from "../disk/data-directory.ts";
import { syncPath } from "../disk/files.ts";
import { lockDirectory } from "../disk/journal-owner.ts";
import { keptKey, keptKeyFiles, replaceKeyFile } from "../vault/master-key.ts";
import { hasVault, opensDatabase, openVaultOf } from "../vault/vault.ts";
import { integrityFaults } from "./integrity.ts";

/**
 * Copies the database, possibly in use, to a new file and checks the copy. Returns its size in bytes. Throws DataUnusable if there is no
 * database, the file exists, or the copy is damaged.
 */
export async function backupDatabase(paths: DataPaths, file: string): Promise<number> {
  if (!existsSync(paths.database)) throw new DataUnusable(`There is no database in ${paths.dataDir}.`);
  if (existsSync(file)) throw new DataUnusable(`${file} exists already; name a file that does not.`);
  if (!existsSync(dirname(file)))
    throw new DataUnusable(`There is no folder ${dirname(file)} for ${file}; make it first.`);
  const database = openReadOnly(paths.database);
  let bytes: number;
  try {
    bytes = await copyDatabaseTo(database, file);
  } finally {
    await database.close();
  }
  const copy = openReadOnly(file);
  const [fault] = await integrityFaults(copy.kysely, "whole").finally(() => copy.close());
  if (fault === undefined) return bytes;
  rmSync(file, { force: true });
  throw new DataUnusable(`The copy is damaged, and so is the database: ${fault}. Nothing was kept.`);
}

interface RestoreOptions {
  readonly paths: DataPaths;
  /** A backup, or the main file of a stopped gateway with its `-wal`. */
  readonly file: string;
  /** As in VaultOptions. */
  readonly masterKey: string | null;
  /** Unix milliseconds, for the name of the previous database. */
  readonly now: number;
}

interface Restored {
  readonly schema: string;
  readonly keys: number;
  readonly entries: number;
  /** Path of the previous database; null: there was none. */
  readonly aside: string | null;
  /** The kept key file that the backup needed, now in use again; null: not needed. */
  readonly oldKey: string | null;
}

/**
 * Replaces the database by a backup, or changes nothing. The backup must be undamaged, have a supported schema, and match the master key.
 * No gateway may be running.
 */
export async function restoreDatabase(options: RestoreOptions): Promise<Restored> {
  const { paths, file } = options;
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new DataUnusable(`There is no file ${file}.`);
  mkdirSync(paths.journal, { recursive: true, mode: 0o700 });
  const release = lockDirectory(paths.journal);
  const draft = `${paths.database}.restoring`;
  try {
    removeAll(draft);
    const facts = await checkedCopy(options, draft);
    const aside = await putAside(paths.database, options.now);
    renameSync(draft, paths.database);
    syncPath(paths.dataDir);
    if (facts.oldKey !== null) replaceKeyFile(paths.dataDir, keptKey(facts.oldKey), { now: options.now });
    return { ...facts, aside };
  } catch (thrown) {
    removeAll(draft);
    throw thrown;
  } finally {
    release();
  }
}

async function checkedCopy(
  { paths, file, masterKey }: RestoreOptions,
  draft: string,
): Promise<Omit<Restored, "aside">> {
  for (const side of ["", "-wal"]) {
    if (!existsSync(file + side)) continue;
    copyFileSync(file + side, draft + side);
    // Backups are often read-only, or readable by others.
    chmodSync(draft + side, 0o600);
  }
  const database = openDraft(draft, file);
  try {
    const [fault] = await integrityFaults(database.kysely, "whole");
    if (fault !== undefined) throw new DataUnusable(`${file} is damaged: ${fault}. Nothing was changed.`);
    const { state, applied, unknown } = await schemaState(database);
    if (state === "newer") throw new SchemaTooNew(unknown);
    if (state === "empty") throw new DataUnusable(`${file} is not a database of Sluice. Nothing was changed.`);
    const oldKey = (await hasVault(database)) ? await oldKeyFor(database, masterKey, paths.dataDir) : null;
    await keepExportedHours(paths.database, database);
    return {
      schema: applied.at(-1) ?? "",
      keys: await rowsOf(database, "api_keys"),
      entries: await rowsOf(database, "ledger_entries"),
      oldKey,
    };
  } finally {
    await closeWhole(database);
    syncPath(draft);
  }
}

/** The kept key file that opens the backup; null: the current master key does. Throws DataUnusable if none does. */
async function oldKeyFor(database: Database, masterKey: string | null, dataDir: string): Promise<string | null> {
  try {
    await openVaultOf(database, { masterKey, dataDir, mayMakeKey: false });
    return null;
  } catch (thrown) {
    if (!(thrown instanceof DataUnusable) || masterKey !== null) throw thrown;
    for (const path of keptKeyFiles(dataDir)) if (await opensDatabase(database, keptKey(path))) return path;
    throw thrown;
  }
}

/**
 * A restore does not change the bucket. Hours exported since the backup have fewer entries now, so they are marked as exported with their
 * previous number, to keep the bucket's copies.
 */
async function keepExportedHours(path: string, draft: Database): Promise<void> {
  const hours = await exportedHoursIn(path).catch(() => []);
  for (const chunk of chunksOf(hours)) {
    await draft.kysely
      .insertInto("exported_hours")
      .values([...chunk])
      .onConflict((conflict) =>
        conflict.columns(["destination", "hour"]).doUpdateSet((eb) => ({
          entries: sql<number>`max(${eb.ref("exported_hours.entries")}, ${eb.ref("excluded.entries")})`,
        })),
      )
      .execute();
  }
}

/** Empty if the previous database is unreadable. */
async function exportedHoursIn(path: string): Promise<readonly Row<"exported_hours">[]> {
  if (!existsSync(path) || statSync(path).size === 0) return [];
  const database = openReadOnly(path);
  try {
    return await database.kysely.selectFrom("exported_hours").selectAll().execute();
  } finally {
    await database.close();
  }
}

function openDraft(draft: string, file: string): Database {
  try {
    return openDatabase({ path: draft, create: false });
  } catch (cause) {
    throw new DataUnusable(`${file} is damaged, or no database. Nothing was changed.`, { cause });
  }
}

async function rowsOf(database: Database, table: "api_keys" | "ledger_entries"): Promise<number> {
  const { count } = await database.kysely
    .selectFrom(table)
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** Checkpoints first, so that there is one file to keep. */
async function putAside(path: string, now: number): Promise<string | null> {
  if (existsSync(path) && statSync(path).size > 0) {
    const aside = `${path}.before-restore-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
    try {
      await closeWhole(openDatabase({ path, create: false }));
    } catch {
      // Too damaged to be opened: keep its files as they are.
    }
    if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
    renameSync(path, aside);
    removeAll(path);
    return aside;
  }
  removeAll(path);
  return null;
}

async function closeWhole(database: Database): Promise<void> {
  await sql`pragma wal_checkpoint(truncate)`.execute(database.kysely).finally(() => database.close());
}

function removeAll(path: string): void {
  for (const side of ["", "-wal", "-shm", "-journal"]) rmSync(path + side, { force: true });
}
