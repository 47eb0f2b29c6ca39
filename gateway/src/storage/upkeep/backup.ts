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
 * A copy of the database in a new file, also of one in use, checked before it is called one. Gives its size in bytes.
 * Throws DataUnusable when there is no database, the file is there already, or the copy is not sound.
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
  /** A whole database: a backup, or the main file of a stopped gateway with its `-wal` beside it. */
  readonly file: string;
  /** As in VaultOptions. */
  readonly masterKey: string | null;
  /** Unix milliseconds, for the name of what is put aside. */
  readonly now: number;
}

interface Restored {
  readonly schema: string;
  readonly keys: number;
  readonly entries: number;
  /** Where the database is that was there before; null when there was none. */
  readonly aside: string | null;
  /** The kept file of the earlier master key that the backup needed, and that is the one in force again; null: it was not needed. */
  readonly oldKey: string | null;
}

/**
 * Puts a backup in the place of the database, or changes nothing: it must be sound, of a schema that this version
 * knows, and made with the master key that is here, and no gateway may be running.
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
    // A copy has the mode of what was copied: backups are often read-only, or readable by others.
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

/** The kept key file that opens the backup; null where the master key in force does. Throws DataUnusable when none does. */
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
 * What stands in a bucket is not put back with the database. Hours that were copied since the backup have fewer entries now, or none: they
 * are noted as copied with as many as they had, so that they are not copied over what the bucket has of them.
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

/** Of a database that is too damaged to be read nothing is known. */
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

/** What is still in its write-ahead file comes into the main file first, so that there is one file to keep. */
async function putAside(path: string, now: number): Promise<string | null> {
  if (existsSync(path) && statSync(path).size > 0) {
    const aside = `${path}.before-restore-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
    try {
      await closeWhole(openDatabase({ path, create: false }));
    } catch {
      // Too damaged to be opened: its files are kept as they are.
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
