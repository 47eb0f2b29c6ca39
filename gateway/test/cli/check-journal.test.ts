import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLedgerStore, openDatabase, openJournalDirectory } from "#storage/index.ts";
import { sluice } from "../command-line.ts";
import { FakeClock } from "../fake-clock.ts";
import { noDrain } from "../ledger/drain-in-place.ts";
import { EagerJournal } from "../ledger/eager-journal.ts";
import { entryOf, intentOf, listeningObserver, refusalOf, settlementOf } from "../ledger/history.ts";

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "sluice-doctor-journal-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const journalLine = async (): Promise<string | undefined> => {
  const { stdout } = await sluice(["doctor"], dataDir, { SLUICE_PORT: "0" });
  return stdout.split("\n").find((line) => line.includes(" journal: "));
};

test("doctor counts journal entries that wait for the database, not those already stored", async () => {
  await sluice(["migrate"], dataDir);
  const journal = new EagerJournal({
    directory: openJournalDirectory(join(dataDir, "journal")),
    durability: "process",
    drain: noDrain(),
    clock: new FakeClock(),
    observer: listeningObserver(),
    onFatal: (error) => {
      throw error;
    },
  });
  for (const n of [1, 2]) {
    journal.intent(intentOf(n));
    journal.settle(settlementOf(n));
  }
  journal.refuse(refusalOf(3));
  journal.intent(intentOf(4));
  expect(await journalLine()).toBe("ok    journal: 3 entries wait for the database; 1 attempts have not ended");
  const database = openDatabase({ path: join(dataDir, "sluice.db"), create: false });
  await createLedgerStore(database).insert([entryOf(1), entryOf(2), refusalOf(3)]);
  await database.close();
  expect(await journalLine()).toBe("ok    journal: 0 entries wait for the database; 1 attempts have not ended");
  journal.settle(settlementOf(4));
  expect(await journalLine()).toBe("ok    journal: 1 entries wait for the database; 0 attempts have not ended");
  await journal.close(0);
});
