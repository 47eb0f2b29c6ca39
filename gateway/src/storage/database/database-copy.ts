import { closeSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { sql } from "kysely";
import { DataUnusable } from "../disk/data-directory.ts";
import { syncPath } from "../disk/files.ts";
import type { Connection } from "./database.ts";

/**
 * A whole copy of a database in use, as it is at this moment, in a file that is not there yet: readable by its owner
 * only, on the disk when this resolves, and under its name only when it is whole. Gives its size in bytes.
 */
export async function copyDatabaseTo({ kysely }: { readonly kysely: Connection }, path: string): Promise<number> {
  const draft = `${path}.part`;
  rmSync(draft, { force: true });
  try {
    // SQLite writes into a file that is there and empty, and leaves its mode as it is.
    closeSync(openSync(draft, "wx", 0o600));
    await sql`vacuum into ${draft}`.execute(kysely);
    // SQLite itself does not sync such a copy.
    syncPath(draft);
    renameSync(draft, path);
    syncPath(dirname(path));
    return statSync(path).size;
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
}

/** Throws DataUnusable when a copy of the database would not fit beside it, with something left over. */
export async function refuseWithoutRoom(databasePath: string, directory: string): Promise<void> {
  const needed = databaseSize(databasePath) + spareBytes;
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= needed) return;
  throw new DataUnusable(
    `there is no room for it in ${directory}: ${inMebibytes(needed)} MiB are needed, ${inMebibytes(free)} are free`,
  );
}

/** What must be left on the disk beside the copy. */
const spareBytes = 1024 * 1024;

function inMebibytes(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024));
}

/** With what has been written lately and is not in the main file yet. */
export function databaseSize(path: string): number {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return sizeOf(path) + sizeOf(`${path}-wal`);
}
