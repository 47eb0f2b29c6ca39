import { expect, test } from "bun:test";
import { PastSums, type PastTime } from "./past-sums.ts";

const dayMs = 86_400_000;
const timeOf = (days: number, version = 1): PastTime => ({
  ...{ from: 0, to: days * dayMs },
  version: String(version),
});

/** Each reading returns its number. */
function opened(bytesMax?: number, bytes = 100) {
  const cache = new PastSums(bytesMax);
  let reads = 0;
  const find = (question: string, past: PastTime) =>
    cache.find(
      question,
      past,
      async () => ++reads,
      () => bytes,
    );
  return { cache, find, reads: () => reads };
}

test("returns a cached sum only for the same question, time and versions of days", async () => {
  const { find, reads } = opened();
  const past = timeOf(2);
  const first = await find("a", past);
  expect(await find("a", past)).toBe(first);
  expect(await find("b", past)).not.toBe(first);
  for (const other of [timeOf(2, 2), timeOf(1), { ...timeOf(2), from: 1 }]) {
    const before = reads();
    await find("a", other);
    expect(reads()).toBe(before + 1);
  }
  const before = reads();
  await find("a", past);
  expect(reads()).toBe(before + 1);
});

test("caches a question separately for each time", async () => {
  const { find, reads } = opened();
  for (let turn = 0; turn < 3; turn++) for (const days of [7, 30]) await find("a", timeOf(days));
  expect(reads()).toBe(2);
});

test("stays within its bound by dropping the least recently used sums", async () => {
  const { cache, find, reads } = opened(10_000);
  for (let question = 0; question < 100; question++) {
    await find(String(question), timeOf(1));
    await find("0", timeOf(1));
    expect(cache.bytes).toBeLessThanOrEqual(10_000);
  }
  expect(reads()).toBe(100);
  await find("99", timeOf(1));
  expect(reads()).toBe(100);
  await find("50", timeOf(1));
  expect(reads()).toBe(101);
  for (let again = 0; again < 1_000; again++) await find("0", timeOf(1, again));
  expect(reads()).toBe(1_101);
  expect(cache.bytes).toBeLessThanOrEqual(10_000);
  await find("99", timeOf(1));
  expect(reads()).toBe(1_101);
});
