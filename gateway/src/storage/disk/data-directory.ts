import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { segmentNumbers } from "./journal-files.ts";

/** The data directory is unusable. The message is one line that tells the operator what to do. */
export class DataUnusable extends Error {
  override readonly name = "DataUnusable";
}

export interface DataPaths {
  readonly dataDir: string;
  readonly database: string;
  readonly journal: string;
  readonly blobs: string;
  readonly masterKey: string;
  /** Exists if the database has moved to a server. */
  readonly moved: string;
}

export function dataPaths(dataDir: string): DataPaths {
  return {
    dataDir,
    database: join(dataDir, "sluice.db"),
    journal: join(dataDir, "journal"),
    blobs: join(dataDir, "blobs"),
    masterKey: join(dataDir, "master.key"),
    moved: join(dataDir, "moved.json"),
  };
}

/** Creates the directory if missing. Throws DataUnusable if it is not writable. */
export function prepareDataDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new DataUnusable(
      `The data directory ${dataDir} cannot be written (${reasons[code] ?? (code || String(error))}). ` +
        "Give it to the gateway's user, or set SLUICE_DATA_DIR to another.",
      { cause: error },
    );
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  EEXIST: "it is not a directory",
  ENOTDIR: "a part of its path is not a directory",
  ENOSPC: "the disk is full",
};

/**
 * Throws DataUnusable instead of creating an empty database where there was one, which would lose keys, money and tasks silently. Looks
 * for files that only a complete start leaves behind.
 */
export function checkDatabasePresent(paths: DataPaths): void {
  if (bytesIn(paths.database) > 0) return;
  checkEmptyDatabase(paths);
}

/** The same for an existing database without tables. */
export function checkEmptyDatabase(paths: DataPaths): void {
  const traces = [
    // Beside an empty file, it may be left from a first start that failed.
    ...(!existsSync(paths.database) && bytesIn(`${paths.database}-wal`) > 0 ? ["sluice.db-wal"] : []),
    ...(bytesIn(paths.masterKey) > 0 ? ["master.key"] : []),
    ...(segmentNumbers(paths.journal).length > 0 ? ["journal/"] : []),
    ...(hasBlobs(paths.blobs) ? ["blobs/"] : []),
  ];
  if (traces.length === 0) return;
  throw new DataUnusable(
    `The database ${paths.database} is missing or empty, but beside it is ${traces.join(", ")} of an earlier one. ` +
      "Put the database back (sluice restore <backup>), or move these away to begin anew.",
  );
}

/**
 * Throws DataUnusable for an empty server database if the data directory belongs to a used installation, whose calls and keys would end
 * up in the wrong database.
 */
export function checkEmptyServerDatabase(paths: DataPaths): void {
  if (bytesIn(paths.database) > 0) {
    throw new DataUnusable(
      `The database that SLUICE_DATABASE_URL names is empty, but ${paths.database} holds an installation. ` +
        `Move it over with \`sluice migrate --from ${paths.dataDir}\`, or set SLUICE_DATA_DIR to another directory.`,
    );
  }
  if (segmentNumbers(paths.journal).length > 0) {
    throw new DataUnusable(
      `The database that SLUICE_DATABASE_URL names is empty, but ${paths.journal} holds calls of an installation. ` +
        "Name the database they belong to, or move the journal away to begin anew.",
    );
  }
}

function bytesIn(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function hasBlobs(path: string): boolean {
  try {
    return readdirSync(path).some((name) => /^[0-9a-f]{2}$/.test(name));
  } catch {
    return false;
  }
}
