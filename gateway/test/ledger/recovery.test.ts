import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type GuardrailCheckEntry, membersOf, noUsage } from "#core/index.ts";
import { recover, verifyLedger } from "#ledger/index.ts";
import { openJournalDirectory, readJournal, settingAside } from "#storage/index.ts";
import { setAsidePath } from "../../src/storage/disk/drain-set-aside.ts";
import { FakeClock } from "../fake-clock.ts";
import { noDrain } from "./drain-in-place.ts";
import { EagerJournal } from "./eager-journal.ts";
import {
  attemptIdOf,
  checkpointOf,
  costOfUsage,
  entryOf,
  intentOf,
  listeningObserver,
  openTestLedger,
  recordsOf,
  refusalOf,
  segmentsIn,
  settlementOf,
  type TestLedger,
} from "./history.ts";

let books: TestLedger;
beforeEach(async () => {
  books = await openTestLedger();
});
afterEach(() => books.remove());

/** A journal as after a crash: not drained, nothing closed but the files. */
async function writeAndCrash(write: (journal: EagerJournal) => void, segmentBytes = 1_000_000) {
  const journal = new EagerJournal({
    directory: openJournalDirectory(books.directory),
    durability: "process",
    drain: noDrain(),
    clock: new FakeClock(),
    observer: listeningObserver(),
    onFatal: (error) => {
      throw error;
    },
    segmentBytes,
  });
  write(journal);
  await journal.close(0);
}

async function recoverAll() {
  const directory = openJournalDirectory(books.directory);
  const store = settingAside(books.store, books.directory, listeningObserver());
  try {
    return await recover({ leftovers: directory.leftovers, store });
  } finally {
    directory.release();
  }
}

test("recovers settled attempts exactly, and open ones as interrupted at their last checkpoint", async () => {
  await writeAndCrash((journal) => {
    for (let n = 1; n <= 4; n++) journal.intent(intentOf(n));
    journal.settle(settlementOf(1));
    journal.checkpoint(checkpointOf(2, 10));
    journal.checkpoint(checkpointOf(2, 64));
    journal.checkpoint({ ...checkpointOf(4, 7), usage: { ...noUsage, output: 7 } });
    journal.refuse(refusalOf(9));
  });
  const recovery = await recoverAll();
  expect(recovery).toEqual({ stored: 5, interrupted: 3, damage: [] });
  const entries = await books.entries();
  expect(entries.get(attemptIdOf(1))).toEqual(entryOf(1));
  expect(entries.get(attemptIdOf(9))).toEqual(refusalOf(9));
  const usage = { ...noUsage, inputUncached: 40, output: 64 };
  expect(entries.get(attemptIdOf(2))).toMatchObject({
    outcome: "interrupted",
    httpStatus: 0,
    errorCode: "interrupted",
    usage,
    usageSource: "estimated",
    costNanoUsd: costOfUsage(usage),
    totalMs: 64,
    firstByteMs: 12.5,
  });
  expect(entries.get(attemptIdOf(3))).toMatchObject({
    outcome: "interrupted",
    usage: { ...noUsage, inputUncached: 40 },
    usageSource: "estimated",
    totalMs: 0,
  });
  // The upstream had not reported the input yet, so the intent's estimate counts.
  expect(entries.get(attemptIdOf(4))?.usage).toEqual({ ...noUsage, inputUncached: 40, output: 7 });
  expect((await books.store.check()).faults).toEqual([]);
  expect(segmentsIn(books.directory)).toEqual([]);
});

test("a second recovery, or one after an interruption, changes nothing", async () => {
  await writeAndCrash((journal) => {
    for (let n = 1; n <= 20; n++) journal.intent(intentOf(n));
    for (let n = 1; n <= 15; n++) journal.settle(settlementOf(n));
  });
  const directory = openJournalDirectory(books.directory);
  const brokenOff = { ...directory.leftovers, discard: () => Promise.reject(new Error("killed")) };
  await recover({ leftovers: brokenOff, store: books.store }).catch(() => undefined);
  directory.release();
  const before = await books.entries();
  expect(before.size).toBe(20);
  expect((await recoverAll()).stored).toBe(0);
  expect(await books.entries()).toEqual(before);
  expect((await books.store.check()).faults).toEqual([]);
});

test("keeps the journal when the database refuses", async () => {
  await writeAndCrash((journal) => journal.intent(intentOf(1)));
  const directory = openJournalDirectory(books.directory);
  const { price, insertChecks } = books.store;
  const store = { price, insertChecks, insert: () => Promise.reject(new Error("database is locked")) };
  expect(await recover({ leftovers: directory.leftovers, store }).catch((error: Error) => error.message)).toBe(
    "database is locked",
  );
  directory.release();
  expect(segmentsIn(books.directory)).toHaveLength(1);
});

/** The file of a short history, and the attempts begun and settled within its first `bytes` bytes. */
async function smallHistory() {
  await writeAndCrash((journal) => {
    journal.intent(intentOf(1));
    journal.intent(intentOf(2));
    journal.checkpoint(checkpointOf(1, 9));
    journal.settle(settlementOf(2));
    journal.refuse(refusalOf(3));
    journal.intent(intentOf(4));
    journal.settle(settlementOf(1));
  });
  const [name = ""] = segmentsIn(books.directory);
  const bytes = readFileSync(join(books.directory, name));
  return { path: join(books.directory, name), bytes };
}

test("a journal cut at any byte gives one row per begun attempt, and settled ones exactly", async () => {
  const { path, bytes } = await smallHistory();
  const wholeLines = (length: number) => bytes.subarray(0, length).toString("utf8").split("\n").slice(0, -1);
  for (let length = 0; length <= bytes.length; length++) {
    writeFileSync(path, bytes.subarray(0, length));
    const lines = wholeLines(length);
    const named = (letter: string) =>
      lines
        .filter((line) => line[9] === letter)
        .map((line) => /att_\d+/.exec(line)?.[0] ?? "")
        .sort();
    const settled = [...named("s"), ...named("r")].sort();
    const leftovers = readJournal(books.directory);
    const found: string[] = [];
    const inserted: string[] = [];
    await recover({
      leftovers: { records: () => leftovers.records(), damage: leftovers.damage, discard: async () => undefined },
      store: {
        price: books.store.price,
        insertChecks: books.store.insertChecks,
        async insert(entries) {
          for (const entry of entries) (entry.outcome === "interrupted" ? found : inserted).push(entry.attemptId);
          return entries.length;
        },
      },
    });
    expect(leftovers.damage).toEqual([]);
    expect(inserted.sort()).toEqual(settled);
    expect([...found, ...inserted].sort()).toEqual([...named("i"), ...named("r")].sort());
  }
});

test("a flipped bit costs at most its record, is reported, and the file is kept", async () => {
  const { path, bytes } = await smallHistory();
  const all = await recordsOf(readJournal(books.directory));
  for (let at = 0; at < bytes.length; at += 3) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ 0x04;
    writeFileSync(path, flipped);
    const leftovers = readJournal(books.directory);
    const found = await recordsOf(leftovers);
    const isLastLineFeed = at === bytes.length - 1;
    expect(found.length).toBeGreaterThanOrEqual(all.length - 1);
    expect(all).toEqual(expect.arrayContaining(found));
    if (!isLastLineFeed) expect(leftovers.damage.length).toBeGreaterThan(0);
  }
  const flipped = Buffer.from(bytes);
  flipped[40] = 0x04;
  writeFileSync(path, flipped);
  const recovery = await recoverAll();
  expect(recovery.damage).toHaveLength(1);
  expect(segmentsIn(books.directory)).toEqual([]);
  expect(readFileSync(`${path}.damaged`)).toEqual(flipped);
});

type Step = { readonly n: number; readonly act: "begin" | "checkpoint" | "settle" | "refuse" };

test("any history, in segments of any size, recovers to the result of a simple model", async () => {
  const step = fc.record({
    n: fc.nat(12),
    act: fc.constantFrom<Step["act"]>("begin", "checkpoint", "settle", "refuse"),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 300, max: 5_000 }), async (steps, size) => {
      rmSync(books.directory, { recursive: true, force: true });
      const base = ++run * 100;
      const model = new Map<string, string>();
      await writeAndCrash((journal) => {
        for (const { n, act } of steps) {
          const id = attemptIdOf(base + n);
          const state = model.get(id);
          if (act === "begin" && state === undefined) {
            journal.intent(intentOf(base + n));
            model.set(id, "interrupted estimated");
          } else if (act === "checkpoint" && state?.startsWith("interrupted")) {
            journal.checkpoint(checkpointOf(base + n, n));
            model.set(id, "interrupted estimated");
          } else if (act === "settle" && state?.startsWith("interrupted")) {
            journal.settle(settlementOf(base + n));
            model.set(id, "succeeded upstream");
          } else if (act === "refuse" && state === undefined) {
            journal.refuse(refusalOf(base + n));
            model.set(id, "rejected none");
          }
        }
      }, size);
      expect((await recoverAll()).stored).toBe(model.size);
      const entries = await books.entries();
      for (const [id, state] of model) {
        const entry = entries.get(id);
        expect(`${entry?.outcome} ${entry?.usageSource}`).toBe(state);
      }
    }),
    { numRuns: 40 },
  );
  const verification = await verifyLedger({ store: books.store, leftovers: readJournal(books.directory) });
  expect(verification.faults).toEqual([]);
});

test("verify finds a wrong cost and a damaged journal line, and changes nothing", async () => {
  await writeAndCrash((journal) => {
    journal.intent(intentOf(1));
    journal.settle(settlementOf(1, { costNanoUsd: 1 }));
    journal.intent(intentOf(2));
    journal.settle(settlementOf(2));
    journal.intent(intentOf(3));
  });
  const verify = () => verifyLedger({ store: books.store, leftovers: readJournal(books.directory) });
  const before = await verify();
  expect(before).toMatchObject({ entries: 0, journal: { settled: 2, open: 1 } });
  expect(before.faults.map((fault) => fault.rule)).toEqual(["a cost is its price version times its usage"]);
  const path = join(books.directory, segmentsIn(books.directory)[0] ?? "");
  const bytes = readFileSync(path);
  const secondIntent = bytes.indexOf(attemptIdOf(2));
  bytes[secondIntent] = 0x20;
  writeFileSync(path, bytes);
  const after = await verify();
  expect(after.faults.map((fault) => fault.rule)).toEqual([
    "a cost is its price version times its usage",
    "every line of the journal is complete",
    "every settlement has its intent",
  ]);
  expect(readFileSync(path)).toEqual(bytes);
});

test("treats a missing journal as empty", async () => {
  expect(await recordsOf(readJournal(join(books.directory, "none")))).toEqual([]);
  mkdirSync(books.directory, { recursive: true });
  expect((await recoverAll()).stored).toBe(0);
});

test("sets aside an entry that the database can never store, starts, and recovers the rest", async () => {
  await writeAndCrash((journal) => {
    for (let n = 1; n <= 9; n++) {
      journal.intent(intentOf(n));
      // NaN becomes null in JSON, which the column refuses.
      journal.settle(settlementOf(n, n === 5 ? { totalMs: Number.NaN } : {}));
    }
  });
  expect(await recoverAll()).toMatchObject({ stored: 8, interrupted: 0 });
  expect((await books.entries()).size).toBe(8);
  expect(readFileSync(setAsidePath(books.directory), "utf8")).toContain(attemptIdOf(5));
  expect(segmentsIn(books.directory)).toEqual([]);
  expect((await recoverAll()).damage.join()).toContain("rejected");
});

test("recovers checks of guardrails, once", async () => {
  const check: GuardrailCheckEntry = {
    ...{ checkId: "chk_1", at: 1, requestId: "req_1", workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" },
    ...{ personId: null, guardrailId: "grl_1", guardrailName: "keys", definition: "0123456789abcdef" },
    ...{ side: "input", action: "block", enforced: true, verdict: "blocked", counts: { jwt: 2 } },
    ...{ paths: ["messages[0].content"], unmasked: 0, unreadable: 1, durationMs: 0.25, error: null },
  };
  await writeAndCrash((journal) => journal.check(check));
  await recoverAll();
  await books.store.insertChecks([check]);
  const rows = await books.database.kysely.selectFrom("guardrail_checks").selectAll().execute();
  expect(rows.map((row) => membersOf(row, ["counts", "paths"]))).toEqual([{ ...check, enforced: 1 } as never]);
});
