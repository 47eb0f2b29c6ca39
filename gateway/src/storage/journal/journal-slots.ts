import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { bounds } from "#core/index.ts";
import type { AbandonedJournal, JournalLeftovers, JournalRecord } from "#ports/index.ts";
import { DataUnusable } from "../disk/data-directory.ts";
import { unlessMissing } from "../disk/files.ts";
import { nextSegmentNumber, segmentNumbers } from "../disk/journal-files.ts";
import {
  type JournalOwner,
  lockDirectory,
  readOwner,
  removeOwner,
  tryLockDirectory,
  writeOwner,
} from "../disk/journal-owner.ts";
import { createLeftovers } from "./journal-reader.ts";

/** The journal's directory, locked by this process. Segments below `firstSegment` are from dead processes. */
export interface JournalDirectory {
  readonly path: string;
  readonly firstSegment: number;
  /** Records of earlier processes, to recover and discard before the port opens. */
  readonly leftovers: JournalLeftovers;
  /** Warnings about journals of other installations in the same place, which are not touched. */
  readonly strange: readonly string[];
  /** Unlocks the directory. A journal calls it when it closes. */
  release(): void;
}

/** Opens the only journal of an installation with SQLite; creates it if missing. Throws if another process has locked it. */
export function openJournalDirectory(path: string): JournalDirectory {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const release = lockDirectory(path);
  try {
    // Records of processes that use PostgreSQL belong to that database.
    if (readOwner(path) !== null && segmentNumbers(path).length > 0) {
      throw new DataUnusable(
        `The journal ${path} contains calls of an installation on PostgreSQL. Start once with its SLUICE_DATABASE_URL ` +
          `to recover them, or set SLUICE_DATA_DIR to another directory than ${dirname(path)}.`,
      );
    }
    return {
      path,
      firstSegment: nextSegmentNumber(path),
      leftovers: createLeftovers(path, segmentNumbers(path), "owned"),
      strange: [],
      release,
    };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

/**
 * Journals of processes that share a data directory and a PostgreSQL database. Each process has a slot: `journal/` is the first,
 * `journal/2` the second, and so on. `owner.json` in a slot names its process and installation, for recovery after the process has died.
 * A process starts in an empty slot and recovers all others, including that of its predecessor.
 */
interface SlotOptions extends JournalOwner {
  /** No other process may have a slot, because without a shared counter each would count limits separately. */
  readonly alone?: boolean;
}

/** Opens the first slot that is unlocked and empty; creates it if missing. Throws if there are too many. */
export function openJournalSlot(path: string, { alone, ...owner }: SlotOptions): JournalDirectory {
  const strange: string[] = [];
  if (alone === true) refuseSiblings(path);
  for (let number = 1; number <= bounds.journalSlotsMax; number++) {
    const directory = slotPath(path, number);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const unlock = tryLockDirectory(directory);
    if (unlock === null) continue;
    try {
      if (isEmpty(directory)) return slotOf(directory, owner, unlock, strange);
      const why = strangeness(directory, owner.installation);
      if (why !== null) strange.push(why);
    } catch (thrown) {
      unlock();
      throw thrown;
    }
    unlock();
  }
  throw new DataUnusable(
    `All ${bounds.journalSlotsMax} journals in ${path} are in use: too many gateways share this data directory. ` +
      [...strange.slice(0, 1), "Set another SLUICE_DATA_DIR for some of them."].join(" "),
  );
}

/**
 * Journals of dead processes of this installation in the other slots. Each stays locked until the next is requested. Slots of living
 * processes, including suspended ones, are skipped.
 */
export function* abandonedJournals(
  path: string,
  own: string,
  installation: string,
): Generator<AbandonedJournal, void, undefined> {
  for (const directory of slotsIn(path)) {
    if (directory === own || isEmpty(directory)) continue;
    const unlock = tryLockDirectory(directory);
    if (unlock === null) continue;
    try {
      // Checked again under the lock: another process may have recovered it just now.
      if (isEmpty(directory) || strangeness(directory, installation) !== null) continue;
      yield {
        place: directory,
        owner: processOf(directory),
        leftovers: createLeftovers(directory, segmentNumbers(directory), "owned"),
        clear: async () => removeOwner(directory),
      };
    } finally {
      unlock();
    }
  }
}

/** Reads the records of every slot, even while processes run. `discard` throws. */
export function readJournal(path: string): JournalLeftovers {
  const slots = slotsIn(path).map((slot) => createLeftovers(slot, segmentNumbers(slot), "borrowed"));
  return {
    get damage() {
      return slots.flatMap(({ damage }) => damage);
    },
    async *records(): AsyncGenerator<JournalRecord, void, undefined> {
      for (const slot of slots) yield* slot.records();
    },
    async discard() {
      throw new Error(`The journal in ${path} was opened for reading only.`);
    },
  };
}

function refuseSiblings(path: string): void {
  for (const directory of slotsIn(path)) {
    const unlock = existsSync(directory) ? tryLockDirectory(directory) : () => undefined;
    if (unlock === null) {
      throw new DataUnusable(
        `Another gateway runs on the data directory ${dirname(path)} (it has locked ${join(directory, "owner.lock")}); ` +
          "several gateways need SLUICE_REDIS_URL to count limits together.",
      );
    }
    unlock();
  }
}

function slotOf(
  directory: string,
  owner: JournalOwner,
  unlock: () => void,
  strange: readonly string[],
): JournalDirectory {
  writeOwner(directory, owner);
  let held = true;
  return {
    path: directory,
    firstSegment: nextSegmentNumber(directory),
    leftovers: createLeftovers(directory, [], "owned"),
    strange,
    release: () => {
      if (!held) return;
      held = false;
      // Without segments there is nothing to recover.
      if (segmentNumbers(directory).length === 0) removeOwner(directory);
      unlock();
    },
  };
}

function slotPath(path: string, number: number): string {
  return number === 1 ? path : join(path, String(number));
}

/** Existing slots, in order. */
function slotsIn(path: string): readonly string[] {
  const names = unlessMissing(() => readdirSync(path));
  if (names === null) return [];
  const numbers = names.filter((name) => /^[1-9]\d{0,3}$/.test(name)).map(Number);
  const further = numbers.filter((number) => number > 1 && number <= bounds.journalSlotsMax);
  return [path, ...further.sort((a, b) => a - b).map((number) => slotPath(path, number))];
}

/** Checked by file names, without a lock. */
function isEmpty(directory: string): boolean {
  return segmentNumbers(directory).length === 0 && !existsSync(join(directory, "owner.json"));
}

function processOf(directory: string): string | null {
  const owner = readOwner(directory);
  return owner === null || owner === "unknown" ? null : owner.process;
}

/** Why a slot does not belong to this installation; null if it does. */
function strangeness(directory: string, installation: string): string | null {
  const owner = readOwner(directory);
  if (owner === null) {
    return `The journal ${directory} belongs to an installation with SQLite and is not touched.`;
  }
  if (owner !== "unknown" && owner.installation === installation) return null;
  return `The journal ${directory} belongs to another installation and is not touched.`;
}
