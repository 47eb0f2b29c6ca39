import { mkdirSync } from "node:fs";
import type { JournalLeftovers } from "#ports/index.ts";
import { nextSegmentNumber, segmentNumbers } from "../disk/journal-files.ts";
import { lockDirectory } from "../disk/journal-lock.ts";
import { createLeftovers } from "./journal-leftovers.ts";

/** The journal's directory, held by this process alone. Segments below `firstSegment` are of dead processes. */
export interface JournalDirectory {
  readonly path: string;
  readonly firstSegment: number;
  /** What earlier processes left: recover and discard it before the port opens. */
  readonly leftovers: JournalLeftovers;
  /** Lets another process have it. A journal that is closed does this itself. */
  release(): void;
}

/** Makes the directory when it is missing. Throws when another process holds it. */
export function openJournalDirectory(path: string): JournalDirectory {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const release = lockDirectory(path);
  return {
    path,
    firstSegment: nextSegmentNumber(path),
    leftovers: createLeftovers(path, segmentNumbers(path), "owned"),
    release,
  };
}

/** The same records for reading only, also beside a running process: `discard` refuses. Empty without a directory. */
export function readJournal(path: string): JournalLeftovers {
  return createLeftovers(path, segmentNumbers(path), "borrowed");
}
