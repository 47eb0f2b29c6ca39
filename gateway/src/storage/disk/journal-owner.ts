import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "./journal-files.ts";

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
  let text: string;
  try {
    text = readFileSync(ownerPath(directory), "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
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
  const file = openSync(draft, "w", 0o600);
  try {
    writeSync(file, `${JSON.stringify(owner)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, ownerPath(directory));
  const names = openSync(directory, "r");
  try {
    fsyncSync(names);
  } finally {
    closeSync(names);
  }
}

export function removeOwner(directory: string): void {
  rmSync(ownerPath(directory), { force: true });
}

function ownerPath(directory: string): string {
  return join(directory, "owner.json");
}
