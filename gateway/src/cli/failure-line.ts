import { oneLine as withoutControls } from "#core/index.ts";
import { ConfigConflict } from "#directory/index.ts";

/** Any thrown value as one line for a person. */
export function failureLine(thrown: unknown): string {
  if (thrown instanceof ConfigConflict) return conflictLine(thrown);
  if (!(thrown instanceof Error)) return oneLine(String(thrown));
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  const path = "path" in thrown && typeof thrown.path === "string" ? `: ${thrown.path}` : "";
  if (pathLines[code] !== undefined) return `${pathLines[code]}${path}`;
  return (
    systemLines[code] ?? systemLines[familyOf(code)] ?? oneLine(thrown.message === "" ? thrown.name : thrown.message)
  );
}

/** The cause of a failure, which an operator can act on. */
export function causeLine(thrown: unknown): string {
  return failureLine(thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown);
}

const systemLines: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; stop what listens there or set SLUICE_PORT",
  EADDRNOTAVAIL: "SLUICE_HOST is not an address of this machine",
  SQLITE_BUSY: "the database is locked by another process; try again",
  SQLITE_CANTOPEN: "failed to open the database; check that SLUICE_DATA_DIR exists and is writable",
  SQLITE_CORRUPT: "the database file is damaged; restore a backup",
  SQLITE_NOTADB: "the file is not a Sluice database",
  SQLITE_FULL: "the disk is full",
  SQLITE_READONLY: "the database is not writable; check the owner of SLUICE_DATA_DIR",
  SQLITE_IOERR: "I/O error of the database; check whether the disk is full or defective",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only; set SLUICE_DATA_DIR to a writable directory",
};

/** Followed by the path. */
const pathLines: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "this is a folder, not a file",
  EEXIST: "the file exists already",
  EACCES: "permission denied",
  EPERM: "not permitted",
};

/** SQLite has longer codes for some causes: SQLITE_IOERR_SHMSIZE is an SQLITE_IOERR. */
function familyOf(code: string): string {
  return /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? "";
}

function conflictLine(conflict: ConfigConflict): string {
  const [first = "", ...others] = conflict.message.split("\n");
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

function oneLine(text: string): string {
  return withoutControls(text.replaceAll(/\s*\n\s*/g, "; ")).trim();
}
