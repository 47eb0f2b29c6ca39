import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { bounds } from "#core/index.ts";
import type { AbandonedJournal, JournalLeftovers, JournalRecord } from "#ports/index.ts";
import { DataUnusable } from "../disk/data-directory.ts";
import { isMissing, nextSegmentNumber, segmentNumbers } from "../disk/journal-files.ts";
import { type JournalOwner, readOwner, removeOwner, tryLockDirectory, writeOwner } from "../disk/journal-owner.ts";
import type { JournalDirectory } from "./journal-directory.ts";
import { createLeftovers } from "./journal-leftovers.ts";

/**
 * Journals of processes that share a data directory and a PostgreSQL database. Each process has a slot: `journal/` is the
 * first, `journal/2` the second and so on. A slot says who writes into it (`owner.json`), so that whoever takes over what a
 * dead process left can tell whose it was, and nobody brings it into another database. A process begins in an empty slot and
 * takes over all others alike, also that of its own predecessor.
 */
export interface SlotOptions extends JournalOwner {
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
      if (isEmpty(directory)) return slotOf(directory, { owner, unlock, strange });
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

interface HeldSlot {
  readonly owner: JournalOwner;
  readonly unlock: () => void;
  readonly strange: readonly string[];
}

function slotOf(directory: string, { owner, unlock, strange }: HeldSlot): JournalDirectory {
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
  let names: string[];
  try {
    names = readdirSync(path);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
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
