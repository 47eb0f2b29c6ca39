import { mkdirSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Spool } from "#ports/index.ts";
import { isMissing } from "../disk/journal-files.ts";
import { SpoolRoom } from "./spool-room.ts";
import { FileSpoolWriter } from "./spool-writer.ts";

/** All bodies that wait to be sent, in memory and on disk. */
export const spoolMemoryTotalBytesMax = 64 * 1024 * 1024;
const spoolDiskBytesMax = 4 * 1024 * 1024 * 1024;

export interface SpoolOptions {
  /** Made when it is missing; only this process's user may look into it. */
  readonly directory: string;
  /** Told apart from the names that other processes of the same directory use. */
  readonly nextName: () => string;
  readonly memoryBytesMax?: number;
  readonly diskBytesMax?: number;
}

/**
 * Keeps small bodies in memory and large ones in files. A file has no name left as soon as it is open, so that
 * nothing of a body outlives its call, however the process ends; what an earlier run still left is removed now.
 */
export function createSpool(options: SpoolOptions): Spool {
  const { directory, nextName } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  removeLeftovers(directory);
  const room = new SpoolRoom(
    options.memoryBytesMax ?? spoolMemoryTotalBytesMax,
    options.diskBytesMax ?? spoolDiskBytesMax,
  );
  return { open: (owner) => new FileSpoolWriter(room, owner, () => join(directory, `${nextName()}${suffix}`)) };
}

const suffix = ".spool";

/** Another process that has such a file open goes on using it without its name. */
function removeLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(suffix)) continue;
    try {
      unlinkSync(join(directory, name));
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
  }
}
