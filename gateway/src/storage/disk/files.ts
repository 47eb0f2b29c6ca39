import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { bounds, Failure } from "#core/index.ts";

/** Matches the code of an error or of its causes. */
export function hasCode(error: unknown, code: RegExp): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && code.test(String(error.code))) || hasCode(error.cause, code);
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, /^ENOENT$/);
}

/** null: the file or directory is missing. */
export function unlessMissing<Result>(act: () => Result): Result | null {
  try {
    return act();
  } catch (error) {
    return missingAsNull(error);
  }
}

/** The same for a rejected promise. */
export function missingAsNull(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

/** Ignores that a file exists already. */
export function ignoreExisting(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!hasCode(error, /^EEXIST$/)) throw error;
  }
}

export function isFullDisk(error: unknown): boolean {
  return hasCode(error, /^(ENOSPC|EDQUOT)$/);
}

/** The disk or bucket is temporarily unavailable. */
export function storageUnavailable(cause: unknown): Failure {
  return new Failure("storage_unavailable", "File storage is temporarily unavailable. Try again.", {
    retry: "same",
    retryAfterMs: bounds.storageRetryAfterMs,
    cause,
  });
}

/** Writes a line to a file that only its owner may read, and syncs it. */
export function writeLine(path: string, line: string, flag: "w" | "wx" | "a"): void {
  const file = openSync(path, flag, 0o600);
  try {
    writeSync(file, `${line}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Syncs a file, or the names in a directory. */
export function syncPath(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
