import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { JournalLeftovers } from "#ports/index.ts";
import { DataUnusable } from "../disk/data-directory.ts";
import { nextSegmentNumber, segmentNumbers } from "../disk/journal-files.ts";
import { lockDirectory, readOwner } from "../disk/journal-owner.ts";
import { createLeftovers } from "./journal-leftovers.ts";

/** The journal's directory, held by this process alone. Segments below `firstSegment` are of dead processes. */
export interface JournalDirectory {
  readonly path: string;
  readonly firstSegment: number;
  /** What earlier processes left: recover and discard it before the port opens. */
  readonly leftovers: JournalLeftovers;
  /** Journals beside it that are of another installation and are left as they are, in words. */
  readonly strange: readonly string[];
  /** Lets another process have it. A journal that is closed does this itself. */
  release(): void;
}

/** The one journal of an installation with SQLite, made when it is missing. Throws when another process holds it. */
export function openJournalDirectory(path: string): JournalDirectory {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const release = lockDirectory(path);
  try {
    refuseOtherInstallation(path);
  } catch (thrown) {
    release();
    throw thrown;
  }
  return {
    path,
    firstSegment: nextSegmentNumber(path),
    leftovers: createLeftovers(path, segmentNumbers(path), "owned"),
    strange: [],
    release,
  };
}

/** What processes on a PostgreSQL server left belongs into that database. */
function refuseOtherInstallation(path: string): void {
  if (readOwner(path) === null || segmentNumbers(path).length === 0) return;
  throw new DataUnusable(
    `The journal ${path} holds calls of an installation on PostgreSQL. Start once with its SLUICE_DATABASE_URL, ` +
      `which takes them over, or set SLUICE_DATA_DIR to another directory than ${dirname(path)}.`,
  );
}
