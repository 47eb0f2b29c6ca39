import { Database } from "bun:sqlite";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DataUnusable } from "./data-directory.ts";

/**
 * Takes a directory for this process alone, until the returned function is called or the process ends, however it
 * ends: the lock is SQLite's own on a small file, which the operating system lets go of. Throws when another has it.
 */
export function lockDirectory(directory: string): () => void {
  const release = tryLockDirectory(directory);
  if (release !== null) return release;
  throw new DataUnusable(
    `Another gateway runs on the data directory ${dirname(directory)} (it holds ${join(directory, "owner.lock")}); only one may.`,
  );
}

/**
 * The same; null when another has it. A process that is stopped has it still. The file is opened by SQLite alone, which
 * knows that POSIX drops every lock of a process on a file that it closes once, and it is never removed: two processes
 * could then each hold a file of this name.
 */
export function tryLockDirectory(directory: string): (() => void) | null {
  const file = join(directory, "owner.lock");
  // SQLite makes what is not there for everybody to read.
  if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600, flag: "a" });
  const database = new Database(file, { create: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run("BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    if (isBusy(cause)) return null;
    throw cause;
  }
  return () => database.close();
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
}
