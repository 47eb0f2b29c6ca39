import { closeSync, openSync, readdirSync, rmSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ReportStore } from "#ports/index.ts";

type Backup = Awaited<ReturnType<ReportStore["backup"]>>;

/** A copy of the database beside it, readable by its owner only, for as long as somebody reads it. */
export async function backupOf(
  databasePath: string,
  number: number,
  copy: (path: string) => Promise<unknown>,
): Promise<Backup> {
  const path = `${databasePath}${copyMark}${number}`;
  const remove = () => rm(path, { force: true });
  // SQLite writes into a file that is there and empty, and leaves its mode as it is.
  closeSync(openSync(path, "wx", 0o600));
  try {
    await copy(path);
    const { size } = await stat(path);
    return { bytes: Bun.file(path).stream(), size, done: remove };
  } catch (thrown) {
    await remove();
    throw thrown;
  }
}

const copyMark = ".backup-";

/** Copies that a process left which was killed meanwhile. */
export function removeLeftovers(databasePath: string): void {
  const directory = dirname(databasePath);
  for (const name of readdirSync(directory)) {
    if (name.startsWith(`${basename(databasePath)}${copyMark}`)) rmSync(join(directory, name), { force: true });
  }
}

/** With what has been written lately and is not in the main file yet. */
export async function databaseSize(databasePath: string): Promise<number | null> {
  const sizes = await Promise.all(
    [databasePath, `${databasePath}-wal`].map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
