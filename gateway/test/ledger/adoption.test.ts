import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerEntry } from "#core/index.ts";
import { type AdoptionHooks, startAdoption, verifyLedger } from "#ledger/index.ts";
import type { LedgerStore } from "#ports/index.ts";
import { abandonedJournals, FileJournal, openJournalDirectory, openJournalSlot, readJournal } from "#storage/index.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../fake-clock.ts";
import { noDrain } from "./drain-in-place.ts";
import {
  attemptIdOf,
  type Books,
  checkpointOf,
  entryOf,
  intentOf,
  listeningObserver,
  openBooks,
  segmentsIn,
  settlementOf,
} from "./history.ts";

let books: Books;
beforeEach(async () => {
  books = await openBooks();
});
afterEach(() => books.remove());

const installation = "acme";

/** A slot with the open journal of a process, which can be left as a killed process leaves it. */
function runningProcess(process: string, write: (journal: FileJournal) => void) {
  const slot = openJournalSlot(books.directory, { process, installation });
  const journal = new FileJournal({
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
  const told: LedgerEntry[] = [];
  const observer = listeningObserver();
  const clock = new FakeClock();
  const adoption = startAdoption({
    abandoned: () => abandonedJournals(books.directory, own, installation),
    store: { ...books.store, ...change.store },
    clock,
    observer,
    hooks: change.hooks ?? {
      onStored: (entries) => void told.push(...entries),
      onAdopted: async (owner) => adopted.push(owner) > 0,
    },
  });
  return { adoption, adopted, told, observer, clock };
}

const twoOfThree = (journal: FileJournal): void => {
  for (let n = 1; n <= 3; n++) journal.intent(intentOf(n));
  journal.settle(settlementOf(1));
  journal.checkpoint(checkpointOf(2, 64));
  journal.settle(settlementOf(3));
};

test("each process has a slot of its own, the first that is free, and its name stands in it", async () => {
  const first = openJournalSlot(books.directory, { process: "proc_1", installation });
  const second = openJournalSlot(books.directory, { process: "proc_2", installation });
  expect([first.path, second.path]).toEqual([books.directory, join(books.directory, "2")]);
  first.release();
  expect(openJournalSlot(books.directory, { process: "proc_3", installation }).path).toBe(books.directory);
  second.release();
  expect(openJournalSlot(books.directory, { process: "proc_4", installation }).path).toBe(second.path);
});

test("what a dead sibling left becomes entries while this process runs, and its slot is empty", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  const dead = runningProcess("proc_dead", twoOfThree);
  await dead.die();
  const { adoption, adopted, told, clock } = adoptionBy(own.path);
  clock.advance(5_000);
  await adoption.hurry();
  const entries = await books.entries();
  expect(entries.get(attemptIdOf(1))).toEqual(entryOf(1));
  expect(entries.get(attemptIdOf(2))).toMatchObject({ outcome: "interrupted", usageSource: "estimated", totalMs: 64 });
  expect(adopted).toEqual(["proc_dead"]);
  expect(told.map(({ attemptId }) => attemptId).sort()).toEqual([1, 2, 3].map(attemptIdOf));
  expect(readdirSync(dead.slot.path)).toEqual(["owner.lock"]);
  await adoption.hurry();
  expect(adopted).toHaveLength(1);
  await adoption.close();
});

test("the journal of a living process is left alone, also by another part of the same process", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  const alive = runningProcess("proc_alive", twoOfThree);
  const { adoption, adopted } = adoptionBy(own.path);
  await adoption.hurry();
  expect([adopted, (await books.entries()).size, segmentsIn(alive.slot.path).length]).toEqual([[], 0, 1]);
  await alive.die();
  await adoption.hurry();
  expect(adopted).toEqual(["proc_alive"]);
});

test("tells how long ago the last new entry was stored, also when it could not be told at first", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  await runningProcess("proc_dead", twoOfThree).die();
  const agoMs: (number | null)[] = [];
  const hooks = { onAdopted: async (_: string, storedAgoMs: number | null) => agoMs.push(storedAgoMs) > 1 };
  const { adoption, clock } = adoptionBy(own.path, { hooks });
  await adoption.hurry();
  clock.advance(700);
  await adoption.hurry();
  expect(agoMs).toEqual([0, 700]);
  await runningProcess("proc_idle", () => undefined).die();
  await adoption.hurry();
  expect(agoMs.slice(2)).toEqual([null]);
  await adoption.close();
});

test("an adopter that is broken off, or whose hook fails, is followed by one that does it to the end; entries count once", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  await runningProcess("proc_dead", twoOfThree).die();
  const full = adoptionBy(own.path, { store: { insert: () => Promise.reject(new Error("the disk is full")) } });
  await full.adoption.hurry();
  await full.adoption.hurry();
  expect(full.observer.lines).toEqual(["warn Failed to recover the journal of another process; retrying."]);
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

test("a process that starts again begins beside what it left, takes that over, and leaves room for the next", async () => {
  await runningProcess("proc_dead", twoOfThree).die();
  const next = openJournalSlot(books.directory, { process: "proc_next", installation });
  expect(next.path).toBe(join(books.directory, "2"));
  const { adoption, adopted } = adoptionBy(next.path);
  await adoption.hurry();
  expect(adopted).toEqual(["proc_dead"]);
  expect(openJournalSlot(books.directory, { process: "proc_last", installation }).path).toBe(books.directory);
});

test("two adopters that look at once take over each journal once", async () => {
  const processes = [0, 1, 2, 3].map((n) => runningProcess(`proc_${n}`, (journal) => journal.intent(intentOf(n))));
  for (const { die } of processes.slice(1)) await die();
  const one = adoptionBy(books.directory);
  const other = adoptionBy(books.directory);
  await Promise.all([one.adoption.hurry(), other.adoption.hurry()]);
  await one.adoption.hurry();
  expect([...one.adopted, ...other.adopted].sort()).toEqual(["proc_1", "proc_2", "proc_3"]);
  expect((await books.entries()).size).toBe(3);
});

test("a torn end is passed over; a damaged segment is used as far as it goes, reported and kept", async () => {
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

test("a slot that cannot be read does not keep others from being taken over", async () => {
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  const broken = runningProcess("proc_2", () => undefined);
  const dead = runningProcess("proc_3", twoOfThree);
  await broken.die();
  await dead.die();
  mkdirSync(join(broken.slot.path, "000000000009.wal"));
  const { adoption, adopted, observer } = adoptionBy(own.path);
  await adoption.hurry();
  expect(adopted).toEqual(["proc_3"]);
  expect(observer.lines).toContain("warn Failed to recover the journal of another process; retrying.");
});

test("what another installation left, or one with SQLite, is never brought into this database", async () => {
  const embedded = openJournalDirectory(books.directory);
  const journal = new FileJournal({
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

test("a gateway on SQLite refuses a journal that processes on PostgreSQL left, in one line", async () => {
  await runningProcess("proc_dead", twoOfThree).die();
  expect(() => openJournalDirectory(books.directory)).toThrow(/PostgreSQL/);
  const { adoption, adopted } = adoptionBy("");
  await adoption.hurry();
  expect(adopted).toEqual(["proc_dead"]);
  openJournalDirectory(books.directory).release();
});

test("there is a bound on processes in one directory, and the line says what to do", () => {
  for (let n = 0; n < 64; n++) openJournalSlot(books.directory, { process: `proc_${n}`, installation });
  expect(() => openJournalSlot(books.directory, { process: "proc_65", installation })).toThrow(/SLUICE_DATA_DIR/);
});

test("the books are proven with the journals of all processes", async () => {
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
