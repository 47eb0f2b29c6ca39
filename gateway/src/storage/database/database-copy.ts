import { closeSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { sql } from "kysely";
import { DataUnusable } from "../disk/data-directory.ts";
import { syncPath } from "../disk/files.ts";
import type { Connection } from "./database.ts";

/**
 * Copies a database in use into a new file, readable by its owner only, synced, and under its name only when complete. Returns the size
 * in bytes.
 */
export async function copyDatabaseTo({ kysely }: { readonly kysely: Connection }, path: string): Promise<number> {
  const draft = `${path}.part`;
  rmSync(draft, { force: true });
  try {
    // SQLite accepts an existing empty file and keeps its mode.
    closeSync(openSync(draft, "wx", 0o600));
    await sql`vacuum into ${draft}`.execute(kysely);
    // SQLite does not sync the copy.
    syncPath(draft);
    renameSync(draft, path);
    syncPath(dirname(path));
    return statSync(path).size;
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
}

/** Throws DataUnusable if there is no room for a copy of the database. */
export async function refuseWithoutRoom(databasePath: string, directory: string): Promise<void> {
  const needed = databaseSize(databasePath) + spareBytes;
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= needed) return;
  throw new DataUnusable(
    `there is no room for it in ${directory}: ${inMebibytes(needed)} MiB are needed, ${inMebibytes(free)} are free`,
  );
}

/** Free space that must remain after the copy. */
const spareBytes = 1024 * 1024;

function inMebibytes(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024));
}

/** Includes the write-ahead file. */
export function databaseSize(path: string): number {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return sizeOf(path) + sizeOf(`${path}-wal`);
}
