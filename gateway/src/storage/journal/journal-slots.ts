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
    // What processes on a PostgreSQL server left belongs into that database.
    if (readOwner(path) !== null && segmentNumbers(path).length > 0) {
      throw new DataUnusable(
        `The journal ${path} holds calls of an installation on PostgreSQL. Start once with its SLUICE_DATABASE_URL, ` +
          `which takes them over, or set SLUICE_DATA_DIR to another directory than ${dirname(path)}.`,
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
 * Journals of processes that share a data directory and a PostgreSQL database. Each process has a slot: `journal/` is the
 * first, `journal/2` the second and so on. A slot says who writes into it (`owner.json`), so that whoever takes over what a
 * dead process left can tell whose it was, and nobody brings it into another database. A process begins in an empty slot and
 * takes over all others alike, also that of its own predecessor.
 */
interface SlotOptions extends JournalOwner {
  /** No other process may have a slot: without a shared counter each would count limits by itself. */
  readonly alone?: boolean;
}

/** The first slot that is free and empty, made when it is missing. Throws when there are too many. */
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
    `Every journal in ${path} is taken (${bounds.journalSlotsMax}): too many gateways run on this data directory. ` +
      [...strange.slice(0, 1), "Give some of them a directory of their own (SLUICE_DATA_DIR)."].join(" "),
  );
}

/**
 * What dead processes of this installation left in the other slots, one after the other. Each is held by this process until the
 * next is asked for; what a living process holds, also one that is stopped, is passed over.
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
      // Only now it is certain that nobody else has just taken it over.
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

/** The records of every slot for reading only, also beside running processes: `discard` refuses. */
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
        `Another gateway runs on the data directory ${dirname(path)} (it holds ${join(directory, "owner.lock")}); ` +
          "several need SLUICE_REDIS_URL, where they count limits together.",
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
      // Of its own it leaves nothing to be taken over when no file is left.
      if (segmentNumbers(directory).length === 0) removeOwner(directory);
      unlock();
    },
  };
}

function slotPath(path: string, number: number): string {
  return number === 1 ? path : join(path, String(number));
}

/** Those that are there, in their order. */
function slotsIn(path: string): readonly string[] {
  const names = unlessMissing(() => readdirSync(path));
  if (names === null) return [];
  const numbers = names.filter((name) => /^[1-9]\d{0,3}$/.test(name)).map(Number);
  const further = numbers.filter((number) => number > 1 && number <= bounds.journalSlotsMax);
  return [path, ...further.sort((a, b) => a - b).map((number) => slotPath(path, number))];
}

/** Nothing to take over: a look at names, without a lock. */
function isEmpty(directory: string): boolean {
  return segmentNumbers(directory).length === 0 && !existsSync(join(directory, "owner.json"));
}

function processOf(directory: string): string | null {
  const owner = readOwner(directory);
  return owner === null || owner === "unknown" ? null : owner.process;
}

/** Why what is in a slot is not to be brought into this installation's database; null when it is. */
function strangeness(directory: string, installation: string): string | null {
  const owner = readOwner(directory);
  if (owner === null) {
    return `The journal ${directory} is of an installation with SQLite and is left as it is.`;
  }
  if (owner !== "unknown" && owner.installation === installation) return null;
  return `The journal ${directory} is of another installation and is left as it is.`;
}
