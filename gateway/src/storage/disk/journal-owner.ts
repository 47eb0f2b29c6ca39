import { Database } from "bun:sqlite";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DataUnusable } from "./data-directory.ts";
import { hasCode, syncPath, unlessMissing, writeLine } from "./files.ts";

export interface JournalOwner {
  /** `proc_…` */
  readonly process: string;
  /** The installation's id, shared by all processes on one database; not a secret. */
  readonly installation: string;
}

/** The owner of a journal directory. null: none is written, as with SQLite. "unknown": unreadable, so it belongs to no known process. */
export function readOwner(directory: string): JournalOwner | null | "unknown" {
  const text = unlessMissing(() => readFileSync(ownerPath(directory), "utf8"));
  if (text === null) return null;
  try {
    const { process, installation } = JSON.parse(text) as Partial<JournalOwner>;
    if (typeof process === "string" && typeof installation === "string") return { process, installation };
  } catch {
    // Invalid content.
  }
  return "unknown";
}

/** Synced before it returns. Call it before the first record. */
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
 * Locks a directory for this process until the returned function is called or the process ends. Uses SQLite's lock on a small file, which
 * the operating system releases. Throws DataUnusable if another process has it.
 */
export function lockDirectory(directory: string): () => void {
  const release = tryLockDirectory(directory);
  if (release !== null) return release;
  throw new DataUnusable(
    `Another gateway runs on the data directory ${dirname(directory)} (it holds ${join(directory, "owner.lock")}); only one may.`,
  );
}

/**
 * The same, but null if another process, possibly a suspended one, has it. Only SQLite opens the file, because closing any other
 * descriptor would drop the lock. It is never removed: two processes could then lock different files of this name.
 */
export function tryLockDirectory(directory: string): (() => void) | null {
  const file = join(directory, "owner.lock");
  // SQLite would create it readable for everyone.
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
