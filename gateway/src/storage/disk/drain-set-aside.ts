import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { LedgerEntry } from "#core/index.ts";

export function setAsidePath(directory: string): string {
  return join(directory, "set-aside.jsonl");
}

/** Keeps an entry that the database will never take, as a line of JSON, so that it does not hold up the others. */
export function setAside(directory: string, entry: LedgerEntry, reason: string): void {
  const file = openSync(setAsidePath(directory), "a", 0o600);
  try {
    writeSync(file, `${JSON.stringify({ reason, entry })}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Whether the row itself is at fault (a constraint, a wrong type, a text too long for an index), so that trying again cannot help. */
export function isRowFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "string" && /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)|^2[23]\w{3}$|^54000$/.test(code)) return true;
  return error.cause instanceof Error && isRowFault(error.cause);
}
