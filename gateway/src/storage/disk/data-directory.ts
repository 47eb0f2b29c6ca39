import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { segmentNumbers } from "./journal-files.ts";

/** The data directory is not as it must be; the message is one line that says what an operator can do. */
export class DataUnusable extends Error {
  override readonly name = "DataUnusable";
}

/** Where in the data directory everything is. */
export interface DataPaths {
  readonly dataDir: string;
  readonly database: string;
  readonly journal: string;
  readonly blobs: string;
  readonly masterKey: string;
  /** There when the database has moved to a server. */
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

/** Makes the directory when it is missing. Throws DataUnusable when nothing can be written there. */
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
 * Refuses to begin an empty database where there was another: keys, money and tasks would be gone without a word. What
 * tells of an earlier one is what only a complete start leaves behind. An empty file is as good as none.
 */
export function refuseLostDatabase(paths: DataPaths): void {
  if (bytesIn(paths.database) > 0) return;
  refuseEmptyBeside(paths);
}

/** The same for a database that is there and has no tables. */
export function refuseEmptyBeside(paths: DataPaths): void {
  const traces = [
    // Beside an empty file it may be of a first start that did not come to its end.
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
 * Refuses an empty database on a server where the data directory is of an installation that has been used: its calls would be
 * booked, and its keys looked for, where they do not belong.
 */
export function refuseEmptyServerBeside(paths: DataPaths): void {
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
