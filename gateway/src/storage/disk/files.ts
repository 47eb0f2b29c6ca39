import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { bounds, Failure } from "#core/index.ts";

/** Whether the system, or a database, gave an error, or what caused it, such a code. */
export function hasCode(error: unknown, code: RegExp): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && code.test(String(error.code))) || hasCode(error.cause, code);
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, /^ENOENT$/);
}

/** What `act` gives; null where its file or directory is missing. */
export function unlessMissing<Result>(act: () => Result): Result | null {
  try {
    return act();
  } catch (error) {
    return missingAsNull(error);
  }
}

/** The same for the rejection of a promise. */
export function missingAsNull(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

/** Does nothing where there is such a file already. */
export function unlessThere(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!hasCode(error, /^EEXIST$/)) throw error;
  }
}

export function isFullDisk(error: unknown): boolean {
  return hasCode(error, /^(ENOSPC|EDQUOT)$/);
}

/** The disk or the bucket takes or gives nothing now, and may do so later. */
export function storageUnavailable(cause: unknown): Failure {
  return new Failure("storage_unavailable", "The place where files are kept cannot be used now; try again.", {
    retry: "same",
    retryAfterMs: bounds.storageRetryAfterMs,
    cause,
  });
}

/** Writes a line into a file that only its owner may read. It is on the disk when this returns. */
export function writeLine(path: string, line: string, flag: "w" | "wx" | "a"): void {
  const file = openSync(path, flag, 0o600);
  try {
    writeSync(file, `${line}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** That a file's content, or the names in a directory, are on the disk. */
export function syncPath(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
