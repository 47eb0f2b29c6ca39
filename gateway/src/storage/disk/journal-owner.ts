import { Database } from "bun:sqlite";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DataUnusable } from "./data-directory.ts";
import { hasCode, syncPath, unlessMissing, writeLine } from "./files.ts";

/** Who writes a journal. */
export interface JournalOwner {
  /** The process: `proc_…`. */
  readonly process: string;
  /** The installation: the same for all processes on one database, and no secret. */
  readonly installation: string;
}

/**
 * Who wrote what is in a journal's directory. Null: nobody said so, as in an installation with SQLite. "unknown": it cannot
 * be read, so it is nobody's that is known here.
 */
export function readOwner(directory: string): JournalOwner | null | "unknown" {
  const text = unlessMissing(() => readFileSync(ownerPath(directory), "utf8"));
  if (text === null) return null;
  try {
    const { process, installation } = JSON.parse(text) as Partial<JournalOwner>;
    if (typeof process === "string" && typeof installation === "string") return { process, installation };
  } catch {
    // Not what this file writes.
  }
  return "unknown";
}

/** Is on the disk as a whole when it returns: before the first record of that owner. */
export function writeOwner(directory: string, owner: JournalOwner): void {
  const draft = `${ownerPath(directory)}.draft`;
  writeLine(draft, JSON.stringify(owner), "w");
  renameSync(draft, ownerPath(directory));
  syncPath(directory);
}

export function removeOwner(directory: string): void {
  rmSync(ownerPath(directory), { force: true });
}

function ownerPath(directory: string): string {
  return join(directory, "owner.json");
}

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
    if (hasCode(cause, /^SQLITE_BUSY$/)) return null;
    throw cause;
  }
  return () => database.close();
}
