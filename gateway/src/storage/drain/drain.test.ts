import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerStore } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { patienceMs, until } from "../../../../test/until.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { drainInPlace, noDrain } from "../../../test/ledger/drain-in-place.ts";
import { EagerJournal } from "../../../test/ledger/eager-journal.ts";
import {
  attemptIdOf,
  checkpointOf,
  entryOf,
  intentOf,
  listeningObserver,
  openTestLedger,
  refusalOf,
  segmentsIn,
  settlementOf,
  type TestLedger,
} from "../../../test/ledger/history.ts";
import { setAsidePath } from "../disk/drain-set-aside.ts";
import type { JournalDrain } from "../journal/journal.ts";
import { openJournalDirectory } from "../journal/journal-slots.ts";
import {
  DrainThread,
  drainBusyEntries,
  drainBusyNoticeMs,
  drainNoticeMs,
  drainRestMs,
  startDrain,
} from "./drain-thread.ts";

let books: TestLedger;
beforeEach(async () => {
  books = await openTestLedger();
});
afterEach(() => books.remove());

function openWith<D extends JournalDrain>(makeDrain: (firstSegment: number) => D, segmentBytes = 4_000) {
  const directory = openJournalDirectory(books.directory);
  const observer = listeningObserver();
  const drain = makeDrain(directory.firstSegment);
  const journal = new EagerJournal({
    directory,
    durability: "process",
    drain,
    clock: systemClock,
    observer,
    onFatal: (error) => {
      throw error;
    },
    segmentBytes,
  });
  return { journal, drain, observer };
}

const inPlace = (store: Pick<LedgerStore, "insert"> = books.store) => {
  return openWith((first) => drainInPlace(books.directory, first, store, { wait: () => Bun.sleep(1) }));
};

const inThread = (segmentBytes?: number) => {
  const { directory, databasePath } = books;
  const observer = listeningObserver();
  return openWith(
    (firstSegment) =>
      new DrainThread({ directory, firstSegment, place: inFile(databasePath), clock: systemClock, observer }),
    segmentBytes,
  );
};

const inFile = (path: string) => ({ kind: "sqlite", path }) as const;

const soon = () => AbortSignal.timeout(patienceMs);

test("every settled attempt and every refusal becomes one row with the same values", async () => {
  const { journal } = inThread();
  for (let n = 1; n <= 1_200; n++) {
    journal.intent(intentOf(n));
    journal.checkpoint(checkpointOf(n, 10));
    journal.settle(settlementOf(n));
  }
  journal.refuse(refusalOf(5_000));
  await journal.drained(soon());
  expect(journal.lag).toBe(0);
  const entries = await books.entries();
  expect(entries.size).toBe(1_201);
  for (const n of [1, 600, 1_200]) expect(entries.get(attemptIdOf(n))).toEqual(entryOf(n));
  expect(entries.get(attemptIdOf(5_000))).toEqual(refusalOf(5_000));
  expect((await books.store.check()).faults).toEqual([]);
  await journal.close(patienceMs);
  expect(segmentsIn(books.directory)).toEqual([]);
});

test("a segment is kept while an attempt that began in it is open, and removed when that attempt has ended", async () => {
  const { journal, drain } = inPlace();
  journal.intent(intentOf(0));
  for (let n = 1; n <= 60; n++) {
    journal.intent(intentOf(n));
    journal.settle(settlementOf(n));
  }
  await journal.drained(soon());
  const [first] = segmentsIn(books.directory);
  expect(first).toBe("000000000001.wal");
  expect(segmentsIn(books.directory)).toHaveLength(2);
  journal.settle(settlementOf(0));
  await journal.drained(soon());
  expect(drain.openIntents).toBe(0);
  expect(segmentsIn(books.directory)).toHaveLength(1);
  expect(segmentsIn(books.directory)).not.toContain("000000000001.wal");
  await journal.close(patienceMs);
  expect((await books.entries()).size).toBe(61);
});

test("after closing, open attempts are in the file for the next start and all others in the database", async () => {
  const { journal } = inThread();
  for (let n = 1; n <= 5; n++) journal.intent(intentOf(n));
  for (let n = 1; n <= 4; n++) journal.settle(settlementOf(n));
  await journal.close(patienceMs);
  expect((await books.entries()).size).toBe(4);
  expect(segmentsIn(books.directory)).toHaveLength(1);
});

test("keeps the backlog in files while the database is locked, then moves all of it", async () => {
  const { journal } = inThread();
  const other = new (await import("bun:sqlite")).Database(books.databasePath);
  other.run("begin immediate");
  for (let n = 1; n <= 300; n++) {
    journal.intent(intentOf(n));
    journal.settle(settlementOf(n));
  }
  expect(journal.healthy).toBe(true);
  await journal.drained(AbortSignal.timeout(300));
  expect(journal.lag).toBe(300);
  other.run("rollback");
  other.close();
  await journal.drained(soon());
  expect(journal.lag).toBe(0);
  expect((await books.entries()).size).toBe(300);
  await journal.close(patienceMs);
});

test("retries the same entries after the database refused them", async () => {
  let refusals = 3;
  const { journal, drain } = inPlace({
    insert(entries) {
      if (refusals-- > 0) return Promise.reject(new Error("database is locked"));
      return books.store.insert(entries);
    },
  });
  for (let n = 1; n <= 20; n++) {
    journal.intent(intentOf(n));
    journal.settle(settlementOf(n));
  }
  await journal.drained(soon());
  expect((await books.entries()).size).toBe(20);
  expect(drain.problems).toEqual([...Array(3).fill("The database takes no entries: database is locked"), null]);
  await journal.close(patienceMs);
});

test("a row that the database always rejects is set aside and does not block the others", async () => {
  const { journal, drain } = inPlace();
  for (let n = 1; n <= 9; n++) {
    journal.intent(intentOf(n));
    // NaN becomes null in JSON, which the column rejects.
    journal.settle(settlementOf(n, n === 5 ? { totalMs: Number.NaN } : {}));
  }
  await journal.drained(soon());
  expect(journal.lag).toBe(0);
  const entries = await books.entries();
  expect(entries.size).toBe(8);
  expect(entries.has(attemptIdOf(5))).toBe(false);
  expect(readFileSync(setAsidePath(books.directory), "utf8")).toContain(attemptIdOf(5));
  expect(drain.problems.join()).toContain(attemptIdOf(5));
  await journal.close(patienceMs);
});

test("a restarted drain reads all files from the oldest on and counts nothing twice", async () => {
  const { journal, drain } = inPlace();
  journal.intent(intentOf(0));
  for (let n = 1; n <= 100; n++) {
    journal.intent(intentOf(n));
    journal.settle(settlementOf(n));
  }
  await journal.drained(soon());
  journal.settle(settlementOf(0));
  const again = drainInPlace(books.directory, 1, books.store);
  const last = segmentsIn(books.directory).at(-1) ?? "";
  const bytes = readFileSync(`${books.directory}/${last}`).length;
  again.written(Number.parseInt(last, 10), bytes, 101);
  again.hurry();
  await until(() => again.stored === 101);
  const entries = await books.entries();
  expect(entries.size).toBe(101);
  expect([...entries.values()].every((entry) => entry.outcome === "succeeded")).toBe(true);
  expect((await books.store.check()).faults).toEqual([]);
  expect(drain.problems).toEqual([]);
  await journal.close(patienceMs);
});

test("restarts a dead thread and moves the backlog", async () => {
  const { journal } = openWith(() => noDrain());
  for (let n = 1; n <= 3; n++) {
    journal.intent(intentOf(n));
    journal.settle(settlementOf(n));
  }
  await journal.close(1_000);
  const segment = join(books.directory, segmentsIn(books.directory)[0] ?? "");
  const bytes = readFileSync(segment);
  // A directory instead of the file can be opened, but not read.
  rmSync(segment);
  mkdirSync(segment);
  const observer = listeningObserver();
  const { directory, databasePath } = books;
  const drain = startDrain({ directory, firstSegment: 1, place: inFile(databasePath), clock: systemClock, observer });
  drain.written(1, bytes.length, 3);
  drain.hurry();
  await until(() => observer.lines.some((line) => line.includes("restarting it")));
  rmSync(segment, { recursive: true });
  writeFileSync(segment, bytes);
  await until(() => drain.stored === 3);
  expect((await books.entries()).size).toBe(3);
  expect(await drain.finish(patienceMs)).toBe(true);
});

/** The test advances the drain's clock, but not the journal's. */
const inRestingThread = () => {
  const { directory, databasePath } = books;
  const [clock, observer] = [new FakeClock(), listeningObserver()];
  const opened = openWith(
    (firstSegment) => new DrainThread({ directory, firstSegment, place: inFile(databasePath), clock, observer }),
  );
  /** The drain may have days to sum first. */
  const rested = () =>
    until(() => {
      clock.advance(drainRestMs);
      return !opened.drain.hasThread;
    });
  return { ...opened, clock, rested };
};

test("an idle drain ends its thread, and the next record starts another one at the same position", async () => {
  const { journal, clock, rested } = inRestingThread();
  for (let round = 0; round < 3; round++) {
    for (let n = round * 40 + 1; n <= round * 40 + 40; n++) {
      journal.intent(intentOf(n));
      journal.settle(settlementOf(n));
    }
    await journal.drained(soon());
    expect(journal.lag).toBe(0);
    await rested();
  }
  expect((await books.entries()).size).toBe(120);
  expect((await books.store.check()).faults).toEqual([]);
  expect(segmentsIn(books.directory)).toHaveLength(1);
  await journal.close(patienceMs);
  expect(segmentsIn(books.directory)).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("a drain does not end its thread while an attempt is open", async () => {
  const { journal, drain, clock, rested } = inRestingThread();
  journal.intent(intentOf(0));
  journal.intent(intentOf(1));
  journal.settle(settlementOf(1));
  await journal.drained(soon());
  for (let n = 2; n <= 4; n++) {
    clock.advance(2 * drainRestMs);
    journal.intent(intentOf(n));
    journal.settle(settlementOf(n));
    await journal.drained(soon());
    expect(drain.hasThread).toBe(true);
  }
  journal.settle(settlementOf(0));
  await journal.drained(soon());
  expect((await books.entries()).size).toBe(5);
  await rested();
  await journal.close(patienceMs);
  expect(segmentsIn(books.directory)).toEqual([]);
});

test("moves records that are written while a thread ends, even if the journal closes at that moment", async () => {
  const { journal, clock } = inRestingThread();
  let n = 0;
  const write = (count: number): void => {
    for (const last = n + count; n < last; ) {
      journal.intent(intentOf(++n));
      journal.settle(settlementOf(n));
    }
  };
  for (let round = 0; round < 8; round++) {
    write(30);
    await journal.drained(soon());
    clock.advance(2 * drainRestMs);
    // Write at different moments while the thread ends.
    for (let turn = 0; turn < round * 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    write(1 + (round % 3));
    if (round % 2 === 0) clock.advance(drainNoticeMs);
  }
  await journal.drained(soon());
  expect(journal.lag).toBe(0);
  clock.advance(2 * drainRestMs);
  await journal.close(patienceMs);
  expect((await books.entries()).size).toBe(n);
  expect((await books.store.check()).faults).toEqual([]);
  expect(segmentsIn(books.directory)).toEqual([]);
});

test("sends fewer notices under load, for larger batches", async () => {
  const { journal, drain, clock } = inRestingThread();
  let n = 0;
  const write = (count: number): void => {
    for (const last = n + count; n < last; ) {
      journal.intent(intentOf(++n));
      journal.settle(settlementOf(n));
    }
  };
  const toldWithin = (ms: number): boolean => {
    const before = clock.pending;
    clock.advance(ms);
    return clock.pending < before;
  };
  write(drainBusyEntries);
  clock.advance(drainNoticeMs);
  expect(drain.hasThread).toBe(true);
  write(drainBusyEntries);
  expect(toldWithin(drainNoticeMs)).toBe(false);
  expect(toldWithin(drainBusyNoticeMs)).toBe(true);
  write(1);
  expect(toldWithin(drainBusyNoticeMs)).toBe(true);
  write(1);
  expect(toldWithin(drainNoticeMs)).toBe(true);
  // Callers do not wait for that.
  write(drainBusyEntries);
  await journal.drained(soon());
  expect(journal.lag).toBe(0);
  await journal.close(patienceMs);
});

test("a drain without records starts no thread and leaves no file", async () => {
  const { journal, drain } = inThread();
  expect(segmentsIn(books.directory)).toHaveLength(1);
  await journal.close(patienceMs);
  expect(segmentsIn(books.directory)).toEqual([]);
  expect(drain.hasThread).toBe(false);
});
