import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { recover, verifyLedger } from "#ledger/index.ts";
import { openJournalDirectory, readJournal } from "#storage/index.ts";
import { attemptIdOf, type Books, entryOf, openBooks } from "./history.ts";

let books: Books;
beforeEach(async () => {
  books = await openBooks();
});
afterEach(() => books.remove());

const rounds = 10;
const numbersPerRound = 1_000_000;

/** It is killed in the middle of its work, when it has said so many lines. */
async function appendUntilKilled(first: number, linesMax: number): Promise<string> {
  const program = join(import.meta.dir, "append-until-killed.ts");
  const child = Bun.spawn([process.execPath, program, books.directory, books.databasePath, String(first)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const decoder = new TextDecoder();
  let said = "";
  let lines = 0;
  for await (const piece of child.stdout) {
    const text = decoder.decode(piece, { stream: true });
    said += text;
    lines += text.split("\n").length - 1;
    if (lines >= linesMax) child.kill("SIGKILL");
  }
  await child.exited;
  return said;
}

test("a process killed again and again loses nothing it was told was written, and doubles nothing", async () => {
  let interrupted = 0;
  const begun: number[] = [];
  const settled: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const said = await appendUntilKilled(1 + round * numbersPerRound, 40 + round * 150);
    for (const [, word, number] of said.matchAll(/(begun|settled) (\d+)\n/g)) {
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

test("a journal whose process was killed can be had at once by the next; one that lives keeps it", async () => {
  const program = join(import.meta.dir, "append-until-killed.ts");
  const child = Bun.spawn([process.execPath, program, books.directory, books.databasePath, "1"], { stdout: "pipe" });
  await child.stdout.getReader().read();
  expect(() => openJournalDirectory(books.directory)).toThrow(books.directory);
  child.kill("SIGKILL");
  await child.exited;
  openJournalDirectory(books.directory).release();
});
