import { writeSync } from "node:fs";
import { FileJournal, openJournalDirectory, openJournalSlot, startDrain } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { checkpointOf, intentOf, refusalOf, settlementOf } from "./history.ts";

/**
 * A process that writes attempts from the number in its arguments on until it is killed, and says on stdout what a
 * journal call has returned for. Arguments: journal directory, database, first number, and of one that shares the directory
 * with others the process and the installation that it is.
 */
const [, , path = "", databasePath = "", first = "1", owner, installation = ""] = process.argv;
const observer = { log: () => undefined };
const directory =
  owner === undefined ? openJournalDirectory(path) : openJournalSlot(path, { process: owner, installation });
const journal = new FileJournal({
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

const say = (line: string) => writeSync(1, `${line}\n`);

function some(from: number): void {
  for (let n = from; n < from + 6; n++) {
    journal.intent(intentOf(n));
    say(`begun ${n}`);
  }
  // The sixth stays open, as a call does that is being answered when the process dies.
  for (let n = from; n < from + 5; n++) {
    journal.checkpoint(checkpointOf(n, 3));
    journal.settle(settlementOf(n));
    say(`settled ${n}`);
  }
  journal.refuse(refusalOf(from + 6));
  setTimeout(some, 1, from + 7);
}

some(Number(first));
