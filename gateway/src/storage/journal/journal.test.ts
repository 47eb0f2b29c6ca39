import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { bounds, Failure } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { noDrain } from "../../../test/ledger/drain-in-place.ts";
import { EagerJournal } from "../../../test/ledger/eager-journal.ts";
import {
  checkpointOf,
  intentOf,
  listeningObserver,
  recordsOf,
  refusalOf,
  segmentsIn,
  settlementOf,
} from "../../../test/ledger/history.ts";
import { diskFiles, type JournalFiles } from "../disk/journal-files.ts";
import { FileJournal, type JournalOptions, journalRetryMs } from "./journal.ts";
import { openJournalDirectory, readJournal } from "./journal-slots.ts";

let home = "";
let path = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sluice-journal-"));
  path = join(home, "journal");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A journal that writes each record at once. */
function open(change: Partial<JournalOptions> = {}) {
  return openJournal(EagerJournal, change);
}

function openJournal(Kind: typeof FileJournal, change: Partial<JournalOptions> = {}) {
  const observer = listeningObserver();
  const clock = new FakeClock();
  const fatal: Error[] = [];
  const journal = new Kind({
    directory: openJournalDirectory(path),
    durability: "process",
    drain: noDrain(),
    clock,
    observer,
    onFatal: (error) => fatal.push(error),
    ...change,
  });
  return { journal, observer, clock, fatal };
}

test("writes the intents and settlements of a turn together, on flush or at its end", async () => {
  let writes = 0;
  const files: JournalFiles = {
    ...diskFiles,
    write: (...write) => {
      writes++;
      return diskFiles.write(...write);
    },
  };
  const journal = openJournal(FileJournal, { files }).journal;
  journal.intent(intentOf(1));
  journal.intent(intentOf(2));
  journal.settle(settlementOf(1));
  expect(writes).toBe(0);
  expect(journal.flush()).toBe(true);
  const written = ["intent att_00000001", "intent att_00000002", "settle att_00000001"];
  expect(await recordsOf(readJournal(path))).toEqual(written);
  journal.settle(settlementOf(2));
  await new Promise(setImmediate);
  expect(await recordsOf(readJournal(path))).toEqual([...written, "settle att_00000002"]);
  expect(journal.flush()).toBe(true);
  expect([writes, journal.lag]).toEqual([2, 2]);
});

test("returns false for every intent of a turn that the disk did not accept, and settles them once there is room", async () => {
  const { disk, files } = smallDisk(0);
  const { journal, clock } = openJournal(FileJournal, { files });
  journal.intent(intentOf(1));
  journal.intent(intentOf(2));
  expect([journal.flush(), journal.flush(), journal.healthy]).toEqual([false, false, false]);
  expect(() => journal.intent(intentOf(3))).toThrow(Failure);
  for (const n of [1, 2]) journal.settle(settlementOf(n));
  disk.left = 1_000_000;
  clock.advance(journalRetryMs);
  expect(journal.flush()).toBe(true);
  const records = [1, 2].map((n) => intentOf(n).attemptId);
  const written = [...records.map((id) => `intent ${id}`), ...records.map((id) => `settle ${id}`)];
  expect(await recordsOf(readJournal(path))).toEqual(written);
});

test("writes checkpoints and refusals with the next record, or within the sync interval", async () => {
  const { journal, clock } = open();
  journal.intent(intentOf(1));
  journal.checkpoint(checkpointOf(1, 64));
  journal.refuse(refusalOf(2));
  expect(await recordsOf(readJournal(path))).toEqual(["intent att_00000001"]);
  journal.intent(intentOf(3));
  const written = ["intent att_00000001", "checkpoint att_00000001", "refuse att_00000002", "intent att_00000003"];
  expect(await recordsOf(readJournal(path))).toEqual(written);
  journal.checkpoint(checkpointOf(1, 128));
  clock.advance(bounds.journalSyncMs);
  expect(await recordsOf(readJournal(path))).toEqual([...written, "checkpoint att_00000001"]);
});

test("skips an incomplete last line and reports no damage", async () => {
  const { journal } = open();
  journal.intent(intentOf(1));
  await journal.close(1_000);
  appendFileSync(join(path, segmentsIn(path)[0] ?? ""), '0badcafe s ["att_00000001",17');
  const leftovers = readJournal(path);
  expect(await recordsOf(leftovers)).toEqual(["intent att_00000001"]);
  expect(leftovers.damage).toEqual([]);
});

test("refuses a directory that another journal uses", async () => {
  const { journal } = open();
  expect(() => openJournalDirectory(path)).toThrow(path);
  await journal.close(1_000);
  openJournalDirectory(path).release();
});

test("continues in the next segment when one is full, in order", async () => {
  const { journal } = open({ segmentBytes: 2_000 });
  const written: string[] = [];
  for (let n = 1; n <= 30; n++) {
    journal.intent(intentOf(n));
    journal.settle(settlementOf(n));
    written.push(`intent ${intentOf(n).attemptId}`, `settle ${intentOf(n).attemptId}`);
  }
  expect(segmentsIn(path).length).toBeGreaterThan(3);
  expect(await recordsOf(readJournal(path))).toEqual(written);
});

test("creates files that only their owner can read", () => {
  open().journal.intent(intentOf(1));
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(path, "owner.lock")).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, segmentsIn(path)[0] ?? "")).mode & 0o777).toBe(0o600);
});

/** A disk that accepts `bytes` more bytes, as a full disk does. */
function smallDisk(bytes: number) {
  const disk = { left: bytes, broken: false };
  const files = {
    ...diskFiles,
    write(file: number, from: Buffer, start: number, length: number, position: number): number {
      const end = position + Math.min(length, Math.max(0, disk.left - position));
      if (end === position) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      return diskFiles.write(file, from, start, end - position, position);
    },
  };
  return { disk, files };
}

test("refuses intents on a full disk and writes buffered settlements once there is room", async () => {
  const { disk, files } = smallDisk(1_000);
  const { journal, clock, observer } = open({ files });
  const begun: number[] = [];
  const refused: unknown[] = [];
  for (let n = 1; n <= 5; n++) {
    try {
      journal.intent(intentOf(n));
      begun.push(n);
    } catch (error) {
      refused.push(error);
    }
  }
  expect(begun.length).toBeGreaterThan(0);
  // The first one that the disk did not accept waits in the buffer, and its attempt is settled as not sent.
  const waiting = begun.length + 1;
  expect(refused.every((error) => error instanceof Failure && error.code === "ledger_unavailable")).toBe(true);
  expect(journal.healthy).toBe(false);
  for (const n of [...begun, waiting]) journal.settle(settlementOf(n));
  expect(await recordsOf(readJournal(path))).toEqual(begun.map((n) => `intent ${intentOf(n).attemptId}`));

  clock.advance(journalRetryMs * 5);
  expect(journal.healthy).toBe(false);
  disk.left = 1_000_000;
  clock.advance(journalRetryMs);
  expect(journal.healthy).toBe(true);
  journal.intent(intentOf(9));
  const leftovers = readJournal(path);
  expect(await recordsOf(leftovers)).toEqual([
    ...[...begun, waiting].map((n) => `intent ${intentOf(n).attemptId}`),
    ...[...begun, waiting].map((n) => `settle ${intentOf(n).attemptId}`),
    "intent att_00000009",
  ]);
  expect(leftovers.damage).toEqual([]);
  expect(observer.lines.filter((line) => line.startsWith("error"))).toHaveLength(1);
});

test("starts a clean segment when a full disk has room again", async () => {
  const { disk, files } = smallDisk(1_000_000);
  const { journal, clock } = open({ files, segmentBytes: 1 });
  journal.intent(intentOf(1));
  disk.left = 0;
  journal.settle(settlementOf(1));
  expect(journal.healthy).toBe(false);
  disk.left = 1_000_000;
  clock.advance(journalRetryMs);
  expect(journal.healthy).toBe(true);
  const sizes = segmentsIn(path).map((name) => statSync(join(path, name)).size);
  expect([sizes.length, sizes.at(-1)]).toEqual([3, 0]);
  expect(await recordsOf(readJournal(path))).toEqual(["intent att_00000001", "settle att_00000001"]);
});

test("bounds the buffer on a full disk and logs lost settlements", () => {
  const { files } = smallDisk(0);
  const { journal, observer } = open({ files });
  expect(() => journal.intent(intentOf(1))).toThrow(Failure);
  for (let n = 0; n < bounds.journalBacklogMax + 5; n++) journal.settle(settlementOf(n));
  expect(journal.lag).toBe(bounds.journalBacklogMax);
  expect(observer.lines.filter((line) => line.includes("no room"))).toHaveLength(1);
});

test("removes a partly written record", async () => {
  let calls = 0;
  let halved = false;
  const files = {
    ...diskFiles,
    // Every third write takes half and then refuses the other half.
    write(file: number, from: Buffer, start: number, length: number, position: number): number {
      if (halved) {
        halved = false;
        throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      }
      halved = ++calls % 3 === 0;
      return diskFiles.write(file, from, start, halved ? length >> 1 : length, position);
    },
  };
  const { journal, clock } = open({ files });
  const expected: string[] = [];
  for (let n = 1; n <= 40; n++) {
    try {
      expected.push(`intent ${intentOf(n).attemptId}`);
      journal.intent(intentOf(n));
      journal.settle(settlementOf(n));
      expected.push(`settle ${intentOf(n).attemptId}`);
    } catch (error) {
      expect(error).toBeInstanceOf(Failure);
    }
    clock.advance(journalRetryMs * 4);
  }
  expect(journal.healthy).toBe(true);
  const leftovers = readJournal(path);
  expect(await recordsOf(leftovers)).toEqual(expected);
  expect(expected.length).toBeGreaterThan(20);
  expect(expected.length).toBeLessThan(80);
  expect(leftovers.damage).toEqual([]);
});

test("shares one sync between many writes with durability disk", async () => {
  let running = 0;
  let most = 0;
  let syncs = 0;
  const files = {
    ...diskFiles,
    async sync(file: number) {
      syncs += 1;
      running += 1;
      most = Math.max(most, running);
      await diskFiles.sync(file);
      running -= 1;
    },
  };
  const { journal, clock } = open({ files, durability: "disk" });
  for (let n = 0; n < 200; n++) journal.intent(intentOf(n));
  expect(syncs).toBe(0);
  clock.advance(bounds.journalSyncMs);
  expect(syncs).toBe(1);
  for (let n = 200; n < 400; n++) journal.intent(intentOf(n));
  await Promise.all([journal.synced(), journal.synced(), journal.synced()]);
  expect(syncs).toBeLessThanOrEqual(3);
  expect(most).toBe(1);
});

/** A disk that records synced segments and delays the first sync. */
function slowFirstSync() {
  const first = Promise.withResolvers<void>();
  const names = new Map<number, string>();
  const synced: string[] = [];
  const files = {
    ...diskFiles,
    create(path: string): number {
      const file = diskFiles.create(path);
      names.set(file, basename(path));
      return file;
    },
    async sync(file: number) {
      const name = names.get(file) ?? "closed";
      if (synced.length === 0) await first.promise;
      synced.push(name);
      await diskFiles.sync(file);
    },
    close(file: number) {
      names.delete(file);
      diskFiles.close(file);
    },
  };
  return { files, synced, letGo: first.resolve };
}

test("resolves only when a segment that became full during a sync is on disk", async () => {
  const { files, synced, letGo } = slowFirstSync();
  const { journal } = open({ files, durability: "disk", segmentBytes: 1 });
  journal.intent(intentOf(1));
  journal.intent(intentOf(2));
  const promised = journal.synced();
  journal.intent(intentOf(3));
  const [first, second, third] = segmentsIn(path);
  letGo();
  await promised;
  expect(synced.slice(0, 2)).toEqual([String(first), String(second)]);
  await journal.synced();
  expect(synced).toContain(String(third));
  expect(synced).not.toContain("closed");
});

test("syncs full segments, too, with durability process", async () => {
  const { files, synced, letGo } = slowFirstSync();
  letGo();
  const { journal } = open({ files, segmentBytes: 1 });
  for (let n = 1; n <= 4; n++) journal.intent(intentOf(n));
  await journal.synced();
  expect(synced).toEqual([...segmentsIn(path)]);
});

test("syncs only on request with durability process", async () => {
  let syncs = 0;
  const files = {
    ...diskFiles,
    sync(file: number) {
      syncs += 1;
      return diskFiles.sync(file);
    },
  };
  const { journal, clock } = open({ files });
  journal.intent(intentOf(1));
  clock.advance(bounds.journalSyncMs * 10);
  expect(syncs).toBe(0);
  await journal.synced();
  expect(syncs).toBe(1);
});

test("reports a failed sync once, refuses intents and rejects waiters", async () => {
  const files = { ...diskFiles, sync: () => Promise.reject(new Error("EIO: i/o error")) };
  const { journal, fatal } = open({ files, durability: "strict" });
  journal.intent(intentOf(1));
  expect(await journal.synced().catch((error: unknown) => error)).toBeInstanceOf(Failure);
  await until(() => fatal.length > 0);
  expect(fatal).toHaveLength(1);
  expect(journal.healthy).toBe(false);
  expect(() => journal.intent(intentOf(2))).toThrow(Failure);
  journal.settle(settlementOf(1));
  expect(await recordsOf(readJournal(path))).toEqual(["intent att_00000001", "settle att_00000001"]);
});

test("omits raw usage that is too large for a record", async () => {
  const { journal } = open();
  journal.intent(intentOf(1));
  journal.settle(settlementOf(1, { rawUsage: "x".repeat(bounds.journalRecordBytesMax) }));
  expect(await recordsOf(readJournal(path))).toEqual(["intent att_00000001", "settle att_00000001"]);
});

test("refuses an intent that is too large for a record", async () => {
  const { journal } = open();
  expect(() => journal.intent(intentOf(1, { userAgent: "x".repeat(bounds.journalRecordBytesMax) }))).toThrow(Failure);
  journal.intent(intentOf(2));
  expect(await recordsOf(readJournal(path))).toEqual(["intent att_00000002"]);
});
