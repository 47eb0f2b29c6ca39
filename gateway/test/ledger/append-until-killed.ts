import { writeSync } from "node:fs";
import { openJournalDirectory, openJournalSlot, startDrain } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { EagerJournal } from "./eager-journal.ts";
import { checkpointOf, intentOf, refusalOf, settlementOf } from "./history.ts";

/**
 * A process that writes attempts, starting at a number, until it is killed. It prints to stdout every
 * journal call that returned. Arguments: journal directory, database, first number, and, when it shares the directory
 * with others, its process and installation.
 */
const [, , path = "", databasePath = "", first = "1", owner, installation = ""] = process.argv;
const observer = { log: () => undefined };
const directory =
  owner === undefined ? openJournalDirectory(path) : openJournalSlot(path, { process: owner, installation });
const journal = new EagerJournal({
  directory,
  durability: "disk",
  drain: startDrain({
    directory: directory.path,
    firstSegment: directory.firstSegment,
    place: { kind: "sqlite", path: databasePath },
    clock: systemClock,
    observer,
  }),
  clock: systemClock,
  observer,
  onFatal: () => process.exit(1),
  segmentBytes: 30_000,
});

const print = (line: string) => writeSync(1, `${line}\n`);

function some(from: number): void {
  for (let n = from; n < from + 6; n++) {
    journal.intent(intentOf(n));
    print(`begun ${n}`);
  }
  // The sixth stays open, like a call in progress when the process dies.
  for (let n = from; n < from + 5; n++) {
    journal.checkpoint(checkpointOf(n, 3));
    journal.settle(settlementOf(n));
    print(`settled ${n}`);
  }
  journal.refuse(refusalOf(from + 6));
  setTimeout(some, 1, from + 7);
}

some(Number(first));
