import { expect, test } from "bun:test";
import type { Claim } from "#ports/index.ts";
import { RecentUsage } from "./recent-usage.ts";

const windowMs = 60_000;
const claim = { kind: "window", key: "k", windowMs, amount: 1, limit: 10 } as unknown as Claim;

/** The number of calls in each seed, and how long ago they count. */
function seedsOf(uses: RecentUsage, atMs: number): readonly (readonly [amount: number, ageMs: number])[] {
  return uses.seedsSince(0, atMs).map(([, amount, ageMs]) => [Number(amount), Number(ageMs)]);
}

test("counts merged calls as of the last of them, so that none leaves its window early", () => {
  const uses = new RecentUsage();
  for (const takenMs of [10_010, 10_990, 10_500]) uses.record({ ended: false, claims: [claim], takenMs }, [1], 11_000);
  expect(seedsOf(uses, 12_000)).toEqual([[3, 1_010]]);
});

test("counts what a call used beyond its reservation as of its end", () => {
  const uses = new RecentUsage();
  uses.record({ ended: false, claims: [claim], takenMs: 10_000 }, [5], 14_000);
  expect(seedsOf(uses, 15_000)).toEqual([
    [1, 5_000],
    [4, 1_000],
  ]);
});

test("leaves out calls that were in the ledger before it was read", () => {
  const uses = new RecentUsage();
  for (const atMs of [10_000, 20_000]) uses.record({ ended: false, claims: [claim], takenMs: atMs }, [1], atMs);
  uses.markStored(19_000, 20_100);
  const agesSince = (readMs: number) => uses.seedsSince(readMs, 21_000).map(([, , ageMs]) => Number(ageMs));
  expect([agesSince(20_000), agesSince(20_200)]).toEqual([[11_000, 1_000], [1_000]]);
});
