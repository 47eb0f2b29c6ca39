import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerEntry } from "#core/index.ts";
import { type AdoptionHooks, startAdoption, verifyLedger } from "#ledger/index.ts";
import type { LedgerStore } from "#ports/index.ts";
import { abandonedJournals, openJournalDirectory, openJournalSlot, readJournal } from "#storage/index.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../fake-clock.ts";
import { noDrain } from "./drain-in-place.ts";
import { EagerJournal } from "./eager-journal.ts";
import {
  attemptIdOf,
  checkpointOf,
  entryOf,
  intentOf,
  listeningObserver,
  openTestLedger,
  segmentsIn,
  settlementOf,
  type TestLedger,
} from "./history.ts";

let books: TestLedger;
beforeEach(async () => {
  books = await openTestLedger();
});
afterEach(() => books.remove());

const installation = "acme";

/** A slot with the open journal of a process, which can be abandoned like after a crash. */
function runningProcess(process: string, write: (journal: EagerJournal) => void) {
  const slot = openJournalSlot(books.directory, { process, installation });
  const journal = new EagerJournal({
    directory: slot,
    durability: "process",
    drain: noDrain(),
    clock: new FakeClock(),
    observer: listeningObserver(),
    onFatal: (error) => {
      throw error;
    },
  });
  write(journal);
  return { slot, die: () => journal.close(0) };
}

function adoptionBy(
  own: string,
  change: { readonly store?: Partial<LedgerStore>; readonly hooks?: AdoptionHooks } = {},
) {
  const adopted: string[] = [];
  const adoptedEntries: LedgerEntry[] = [];
  const observer = listeningObserver();
  const clock = new FakeClock();
  const adoption = startAdoption({
    abandoned: () => abandonedJournals(books.directory, own, installation),
    store: { ...books.store, ...change.store },
    clock,
    observer,
    hooks: change.hooks ?? {
      onStored: (entries) => void adoptedEntries.push(...entries),
      onAdopted: async (owner) => adopted.push(owner) > 0,
    },
  });
  return { adoption, adopted, adoptedEntries, observer, clock };
}

const twoOfThree = (journal: EagerJournal): void => {
  for (let n = 1; n <= 3; n++) journal.intent(intentOf(n));
  journal.settle(settlementOf(1));
  journal.checkpoint(checkpointOf(2, 64));
  journal.settle(settlementOf(3));
};

test("gives each process the first free slot and writes its name there", async () => {
  const first = openJournalSlot(books.directory, { process: "proc_1", installation });
  const second = openJournalSlot(books.directory, { process: "proc_2", installation });
  expect([first.path, second.path]).toEqual([books.directory, join(books.directory, "2")]);
  first.release();
  expect(openJournalSlot(books.directory, { process: "proc_3", installation }).path).toBe(books.directory);
  second.release();
  expect(openJournalSlot(books.directory, { process: "proc_4", installation }).path).toBe(second.path);
});

test("stores the entries of a dead sibling while this process runs, and empties its slot", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  const dead = runningProcess("proc_dead", twoOfThree);
  await dead.die();
  const { adoption, adopted, adoptedEntries, clock } = adoptionBy(own.path);
  clock.advance(5_000);
  await adoption.hurry();
  const entries = await books.entries();
  expect(entries.get(attemptIdOf(1))).toEqual(entryOf(1));
  expect(entries.get(attemptIdOf(2))).toMatchObject({ outcome: "interrupted", usageSource: "estimated", totalMs: 64 });
  expect(adopted).toEqual(["proc_dead"]);
  expect(adoptedEntries.map(({ attemptId }) => attemptId).sort()).toEqual([1, 2, 3].map(attemptIdOf));
  expect(readdirSync(dead.slot.path)).toEqual(["owner.lock"]);
  await adoption.hurry();
  expect(adopted).toHaveLength(1);
  await adoption.close();
});

test("leaves the journal of a live process alone, also from another part of the same process", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  const alive = runningProcess("proc_alive", twoOfThree);
  const { adoption, adopted } = adoptionBy(own.path);
  await adoption.hurry();
  expect([adopted, (await books.entries()).size, segmentsIn(alive.slot.path).length]).toEqual([[], 0, 1]);
  await alive.die();
  await adoption.hurry();
  expect(adopted).toEqual(["proc_alive"]);
});

test("reports how long ago the last new entry was stored, even if the first report failed", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  await runningProcess("proc_dead", twoOfThree).die();
  const lagsMs: (number | null)[] = [];
  const hooks = { onAdopted: async (_: string, storedAgoMs: number | null) => lagsMs.push(storedAgoMs) > 1 };
  const { adoption, clock } = adoptionBy(own.path, { hooks });
  await adoption.hurry();
  clock.advance(700);
  await adoption.hurry();
  expect(lagsMs).toEqual([0, 700]);
  await runningProcess("proc_idle", () => undefined).die();
  await adoption.hurry();
  expect(lagsMs.slice(2)).toEqual([null]);
  await adoption.close();
});

test("finishes an interrupted or failed adoption with the next adopter, and counts entries once", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  await runningProcess("proc_dead", twoOfThree).die();
  const full = adoptionBy(own.path, { store: { insert: () => Promise.reject(new Error("the disk is full")) } });
  await full.adoption.hurry();
  await full.adoption.hurry();
  expect(full.observer.lines).toEqual(["warn failed to recover the journal of another process; retrying"]);
  const away = adoptionBy(own.path, { hooks: { onAdopted: () => Promise.reject(new Error("redis is away")) } });
  await away.adoption.hurry();
  expect((await books.entries()).size).toBe(3);
  expect(segmentsIn(join(books.directory, "2"))).toEqual([]);
  const hung = adoptionBy(own.path, { hooks: { onAdopted: () => new Promise(() => undefined) } });
  for (const ending of [hung.adoption.hurry(), hung.adoption.close()]) {
    await until(() => {
      hung.clock.advance(5_000);
      return Bun.peek.status(ending) === "fulfilled";
    });
  }
  const last = adoptionBy(own.path);
  await last.adoption.hurry();
  expect(last.adopted).toEqual(["proc_dead"]);
  expect((await books.store.check()).faults).toEqual([]);
  expect((await books.entries()).size).toBe(3);
});

test("starts next to the journal it left, adopts that, and frees the slot for the next process", async () => {
  await runningProcess("proc_dead", twoOfThree).die();
  const next = openJournalSlot(books.directory, { process: "proc_next", installation });
  expect(next.path).toBe(join(books.directory, "2"));
  const { adoption, adopted } = adoptionBy(next.path);
  await adoption.hurry();
  expect(adopted).toEqual(["proc_dead"]);
  expect(openJournalSlot(books.directory, { process: "proc_last", installation }).path).toBe(books.directory);
});

test("adopts each journal once when two adopters start at the same moment", async () => {
  const processes = [0, 1, 2, 3].map((n) => runningProcess(`proc_${n}`, (journal) => journal.intent(intentOf(n))));
  for (const { die } of processes.slice(1)) await die();
  const one = adoptionBy(books.directory);
  const other = adoptionBy(books.directory);
  await Promise.all([one.adoption.hurry(), other.adoption.hurry()]);
  await one.adoption.hurry();
  expect([...one.adopted, ...other.adopted].sort()).toEqual(["proc_1", "proc_2", "proc_3"]);
  expect((await books.entries()).size).toBe(3);
});

test("ignores a torn end; uses, reports and keeps a damaged segment", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  const dead = runningProcess("proc_dead", twoOfThree);
  await dead.die();
  const [name = ""] = segmentsIn(dead.slot.path);
  const path = join(dead.slot.path, name);
  appendFileSync(path, "0000");
  const bytes = readFileSync(path);
  bytes[bytes.indexOf(attemptIdOf(1))] = 0x20;
  writeFileSync(path, bytes);
  const { adoption, adopted, observer } = adoptionBy(own.path);
  await adoption.hurry();
  expect(adopted).toEqual(["proc_dead"]);
  expect([...(await books.entries()).keys()].sort()).toEqual([2, 3].map(attemptIdOf));
  expect(observer.lines.at(-1)).toBe("warn the journal of another process is damaged");
  expect(existsSync(`${path}.damaged`)).toBe(true);
});

test("adopts other journals although one slot cannot be read", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  const broken = runningProcess("proc_2", () => undefined);
  const dead = runningProcess("proc_3", twoOfThree);
  await broken.die();
  await dead.die();
  mkdirSync(join(broken.slot.path, "000000000009.wal"));
  const { adoption, adopted, observer } = adoptionBy(own.path);
  await adoption.hurry();
  expect(adopted).toEqual(["proc_3"]);
  expect(observer.lines).toContain("warn failed to recover the journal of another process; retrying");
});

test("never adopts a journal of another installation or of SQLite into this database", async () => {
  const embedded = openJournalDirectory(books.directory);
  const journal = new EagerJournal({
    directory: embedded,
    durability: "process",
    drain: noDrain(),
    clock: new FakeClock(),
    observer: listeningObserver(),
    onFatal: () => undefined,
  });
  journal.intent(intentOf(1));
  await journal.close(0);
  const strange = openJournalSlot(books.directory, { process: "proc_strange", installation: "umbrella" });
  expect([strange.path, strange.strange.length]).toEqual([join(books.directory, "2"), 1]);
  writeFileSync(join(strange.path, "000000000001.wal"), "");
  strange.release();
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  expect([own.path, own.strange.length]).toEqual([join(books.directory, "3"), 2]);
  const { adoption, adopted } = adoptionBy(own.path);
  await adoption.hurry();
  expect([adopted, (await books.entries()).size]).toEqual([[], 0]);
});

test("a gateway on SQLite refuses a journal left by processes on PostgreSQL, in one line", async () => {
  await runningProcess("proc_dead", twoOfThree).die();
  expect(() => openJournalDirectory(books.directory)).toThrow(/PostgreSQL/);
  const { adoption, adopted } = adoptionBy("");
  await adoption.hurry();
  expect(adopted).toEqual(["proc_dead"]);
  openJournalDirectory(books.directory).release();
});

test("limits the processes per directory, and the error says what to do", () => {
  for (let n = 0; n < 64; n++) openJournalSlot(books.directory, { process: `proc_${n}`, installation });
  expect(() => openJournalSlot(books.directory, { process: "proc_65", installation })).toThrow(/SLUICE_DATA_DIR/);
});

test("verifies the ledger with the journals of all processes", async () => {
  runningProcess("proc_1", twoOfThree);
  const second = runningProcess("proc_2", (journal) => {
    for (let n = 11; n <= 12; n++) journal.intent(intentOf(n));
    journal.settle(settlementOf(11));
  });
  const verify = () => verifyLedger({ store: books.store, leftovers: readJournal(books.directory) });
  expect(await verify()).toMatchObject({ journal: { settled: 3, open: 2 }, faults: [] });
  const [name = ""] = segmentsIn(second.slot.path);
  const path = join(second.slot.path, name);
  const bytes = readFileSync(path);
  bytes[bytes.indexOf(attemptIdOf(12))] = 0x20;
  writeFileSync(path, bytes);
  expect((await verify()).faults.map((fault) => fault.rule)).toEqual(["every line of the journal is complete"]);
});
