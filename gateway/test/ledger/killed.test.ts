import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { recover, startAdoption, verifyLedger } from "#ledger/index.ts";
import { abandonedJournals, openJournalDirectory, openJournalSlot, readJournal } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { attemptIdOf, entryOf, listeningObserver, openTestLedger, segmentsIn, type TestLedger } from "./history.ts";

let books: TestLedger;
beforeEach(async () => {
  books = await openTestLedger();
});
afterEach(() => books.remove());

const rounds = 10;
const numbersPerRound = 1_000_000;

function append(first: number, ...owner: readonly string[]) {
  const program = join(import.meta.dir, "append-until-killed.ts");
  const command = [process.execPath, program, books.directory, books.databasePath, String(first), ...owner];
  return Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
}

/** Kills the process in the middle of its work, after it printed `linesMax` lines. */
async function appendUntilKilled(first: number, linesMax: number, ...owner: readonly string[]): Promise<string> {
  const child = append(first, ...owner);
  const decoder = new TextDecoder();
  let output = "";
  let lines = 0;
  for await (const piece of child.stdout) {
    const text = decoder.decode(piece, { stream: true });
    output += text;
    lines += text.split("\n").length - 1;
    if (lines >= linesMax) child.kill("SIGKILL");
  }
  await child.exited;
  return output;
}

test("a process killed repeatedly loses and duplicates none of its confirmed writes", async () => {
  let interrupted = 0;
  const begun: number[] = [];
  const settled: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const output = await appendUntilKilled(1 + round * numbersPerRound, 40 + round * 150);
    for (const [, word, number] of output.matchAll(/(begun|settled) (\d+)\n/g)) {
      (word === "begun" ? begun : settled).push(Number(number));
    }
    const directory = openJournalDirectory(books.directory);
    interrupted += (await recover({ leftovers: directory.leftovers, store: books.store })).interrupted;
    directory.release();
  }
  const entries = await books.entries();
  expect(settled.length).toBeGreaterThan(rounds * 5);
  expect(begun.filter((n) => !entries.has(attemptIdOf(n)))).toEqual([]);
  expect(settled.filter((n) => !Bun.deepEquals(entries.get(attemptIdOf(n)), entryOf(n)))).toEqual([]);
  expect(interrupted).toBeGreaterThanOrEqual(rounds);
  const verification = await verifyLedger({ store: books.store, leftovers: readJournal(books.directory) });
  expect(verification).toMatchObject({ entries: entries.size, journal: { settled: 0, open: 0 }, faults: [] });
});

test("a live process adopts the journals of siblings that are killed together or separately", async () => {
  const installation = "acme";
  const own = openJournalSlot(books.directory, { process: "proc_own", installation });
  const adopted: string[] = [];
  const adoption = startAdoption({
    abandoned: () => abandonedJournals(books.directory, own.path, installation),
    store: books.store,
    clock: systemClock,
    observer: listeningObserver(),
    hooks: { onAdopted: async (owner) => adopted.push(owner) > 0 },
  });
  let output = "";
  for (let round = 0; round < 3; round++) {
    const siblings = [0, 1].map((n) => {
      const first = 1 + (round * 2 + n) * numbersPerRound;
      return appendUntilKilled(first, 60 + n * 200, `proc_${round}${n}`, installation);
    });
    output += await siblings[0];
    await adoption.hurry();
    output += await siblings[1];
    await adoption.hurry();
  }
  await adoption.close();
  own.release();
  const numbers = (word: string) =>
    [...output.matchAll(new RegExp(`${word} (\\d+)\n`, "g"))].map((one) => Number(one[1]));
  const entries = await books.entries();
  expect(numbers("settled").length).toBeGreaterThan(60);
  expect(numbers("begun").filter((n) => !entries.has(attemptIdOf(n)))).toEqual([]);
  expect(numbers("settled").filter((n) => !Bun.deepEquals(entries.get(attemptIdOf(n)), entryOf(n)))).toEqual([]);
  expect(adopted.sort()).toEqual(["proc_00", "proc_01", "proc_10", "proc_11", "proc_20", "proc_21"]);
  const verification = await verifyLedger({ store: books.store, leftovers: readJournal(books.directory) });
  expect(verification).toMatchObject({ entries: entries.size, journal: { settled: 0, open: 0 }, faults: [] });
});

test("a paused sibling keeps its journal and continues with it", async () => {
  const child = append(1, "proc_stopped", "acme");
  const output = child.stdout.getReader();
  await output.read();
  child.kill("SIGSTOP");
  const own = openJournalSlot(books.directory, { process: "proc_own", installation: "acme" });
  expect(own.path).toBe(join(books.directory, "2"));
  expect([...abandonedJournals(books.directory, own.path, "acme")]).toEqual([]);
  expect(segmentsIn(books.directory).length).toBeGreaterThan(0);
  child.kill("SIGCONT");
  await output.read();
  child.kill("SIGKILL");
  await child.exited;
  const found = [...abandonedJournals(books.directory, own.path, "acme")].map(({ owner }) => owner);
  expect(found).toEqual(["proc_stopped"]);
  own.release();
});

test("the next process gets the journal of a killed process at once, and none of a live one", async () => {
  const child = append(1);
  await child.stdout.getReader().read();
  expect(() => openJournalDirectory(books.directory)).toThrow(books.directory);
  child.kill("SIGKILL");
  await child.exited;
  openJournalDirectory(books.directory).release();
});
