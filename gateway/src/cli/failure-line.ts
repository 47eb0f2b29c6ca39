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

/** What lies under a failure, which is what an operator can act on. */
export function causeLine(thrown: unknown): string {
  return failureLine(thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown);
}

const systemLines: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is already in use; stop what listens there or set SLUICE_PORT",
  EADDRNOTAVAIL: "SLUICE_HOST is not an address of this machine",
  SQLITE_BUSY: "the database is locked by another process; try again",
  SQLITE_CANTOPEN: "the database cannot be opened; check that SLUICE_DATA_DIR exists and may be written",
  SQLITE_CORRUPT: "the database file is damaged; restore a backup",
  SQLITE_NOTADB: "the database file is not a database of Sluice",
  SQLITE_FULL: "the disk is full",
  SQLITE_READONLY: "the database may not be written; check the owner of SLUICE_DATA_DIR",
  SQLITE_IOERR: "the disk refused to read or write the database; see whether it is full or broken",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only; set SLUICE_DATA_DIR to a directory that can be written",
};

/** With the path behind. */
const pathLines: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "this is a folder, not a file",
  EEXIST: "the file exists already",
  EACCES: "permission denied",
  EPERM: "not permitted",
};

/** SQLite tells more of some causes in longer codes: SQLITE_IOERR_SHMSIZE is an SQLITE_IOERR. */
function familyOf(code: string): string {
  return /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? "";
}

function conflictLine(conflict: ConfigConflict): string {
  const [first = "", ...others] = conflict.message.split("\n");
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, "; ").trim();
}
