import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import { ledgerEntry, newYear, refusedEntry, type StoreFixture, type StoreFixtureFactory } from "./store-fixture.ts";

/** Guarantees of the ledger's sums while they are folded, and of entries at the edges of months, on every database. */
export function ledgerFoldSuite(name: string, make: StoreFixtureFactory): void {
  describe(`ledger folding: ${name}`, () => {
    foldTests(make);
    writerTests(make);
    monthTests(make);
  });
}

const hour = 3_600_000;

async function foldAll({ ledgerStore }: StoreFixture): Promise<void> {
  for (let rounds = 0; rounds < 10_000; rounds++) if ((await ledgerStore.fold()) === 0) return;
  throw new Error("folding never ends");
}

/** Requests and cost by model. */
async function sumsOf({ ledgerStore }: StoreFixture): Promise<Record<string, readonly [number, number]>> {
  const sums = await ledgerStore.usage({});
  return Object.fromEntries(sums.map(({ model, requests, costNanoUsd }) => [model, [requests, costNanoUsd]]));
}

function sumsIn(entries: Iterable<LedgerEntry>): Record<string, readonly [number, number]> {
  const sums: Record<string, readonly [number, number]> = {};
  for (const { model, calls = 1, retryIndex, costNanoUsd } of entries) {
    const [requests, cost] = sums[model] ?? [0, 0];
    sums[model] = [requests + (retryIndex === 0 ? calls : 0), cost + costNanoUsd];
  }
  return sums;
}

function foldTests(make: StoreFixtureFactory): void {
  test("returns the sums of all entries at any moment, in any order of inserts and folds", async () => {
    await using fixture = await make();
    const inserted = new Map<string, LedgerEntry>();
    const entry = (n: number) =>
      (n % 5 === 0 ? refusedEntry : ledgerEntry)(String(n), {
        at: newYear + (n % 7) * hour,
        keyId: `key_${n % 2}`,
        model: `m${n % 3}`,
        retryIndex: n % 4 === 1 ? 1 : 0,
        outcome: n % 5 === 0 ? "rejected" : n % 6 === 1 ? "cancelled" : "succeeded",
        calls: n % 5 === 0 ? 9 : 1,
        firstTokenMs: n % 2 === 0 ? n : null,
        totalMs: n * 11,
        startedAfterMs: n % 3 === 0 ? 0 : n,
        priceVersion: null,
        costNanoUsd: 0,
      });
    const step = fc.oneof(
      fc.array(fc.nat(300), { maxLength: 30 }).map((numbers) => ({ numbers, rows: 0 })),
      fc.integer({ min: 1, max: 6 }).map((rows) => ({ numbers: [] as number[], rows })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        for (const { numbers, rows } of steps) {
          if (rows > 0) await fixture.ledgerStore.fold(rows);
          await fixture.ledgerStore.insert(numbers.map(entry));
          for (const n of numbers) inserted.set(String(n), entry(n));
          expect(await sumsOf(fixture)).toEqual(sumsIn(inserted.values()));
        }
      }),
      { numRuns: 12 },
    );
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
    await foldAll(fixture);
    expect(await sumsOf(fixture)).toEqual(sumsIn(inserted.values()));
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
  });

  test("folds and sums days whose usage is as large as a number can be", async () => {
    await using fixture = await make();
    const most = { usage: { ...noUsage, output: Number.MAX_SAFE_INTEGER }, costNanoUsd: Number.MAX_SAFE_INTEGER };
    for (let batch = 0; batch < 3; batch++) {
      const entries = Array.from({ length: 400 }, (_, n) =>
        ledgerEntry(`largest_${batch}_${n}`, { ...most, model: "largest" }),
      );
      await fixture.ledgerStore.insert([...entries, ledgerEntry(`valid_${batch}`, { model: "valid", costNanoUsd: 7 })]);
      if (batch === 1) await foldAll(fixture);
    }
    await foldAll(fixture);
    const sums = await sumsOf(fixture);
    expect(sums["valid"]).toEqual([3, 21]);
    expect(sums["largest"]?.[1]).toBeGreaterThanOrEqual(2 ** 63);
    expect(await fixture.ledgerStore.sumDay(newYear + 48 * hour)).toBe(1);
  });

  test("keeps the sketches of a busy hour while only part of it is folded", async () => {
    await using fixture = await make();
    for (let batch = 0; batch < 12; batch++) {
      const entries = Array.from({ length: 100 }, (_, n) =>
        ledgerEntry(`${batch}_${n}`, { totalMs: 100 + n, firstTokenMs: batch + n, priceVersion: null, costNanoUsd: 0 }),
      );
      await fixture.ledgerStore.insert(entries);
    }
    for (let rounds = 0; rounds < 3; rounds++) {
      await fixture.ledgerStore.fold(5);
      expect((await fixture.ledgerStore.check()).faults).toEqual([]);
    }
    expect(await fixture.ledgerStore.fold()).toBe(0);
    expect(await fixture.database.kysely.selectFrom("usage_rollups").select("attempts").execute()).toEqual([
      { attempts: 1_200 },
    ]);
  });
}

function writerTests(make: StoreFixtureFactory): void {
  test("counts each attempt once when entries are inserted and folded concurrently", async () => {
    await using fixture = await make();
    const batches = Array.from({ length: 12 }, (_, b) =>
      Array.from({ length: 50 }, (_, n) =>
        ledgerEntry(`${b % 3 === 0 ? `own${b}` : "shared"}_${n}`, {
          keyId: `key_${n % 5}`,
          priceVersion: null,
          costNanoUsd: 0,
        }),
      ),
    );
    const work = batches.map(async (batch, b) => {
      const inserted = await fixture.ledgerStore.insert(b % 2 === 0 ? batch : batch.toReversed());
      await fixture.ledgerStore.fold(3);
      return inserted;
    });
    const inserted = await Promise.all(work);
    expect(inserted.reduce((a, b) => a + b)).toBe(5 * 50);
    expect(await sumsOf(fixture)).toEqual({ "gpt-5": [250, 0] });
    await foldAll(fixture);
    const check = await fixture.ledgerStore.check();
    expect([check.entries, check.faults]).toEqual([250, []]);
    expect(await sumsOf(fixture)).toEqual({ "gpt-5": [250, 0] });
  });
}

function monthTests(make: StoreFixtureFactory): void {
  test("stores entries at the edge of a month, in the past and in the future once", async () => {
    await using fixture = await make();
    const edge = Date.UTC(2026, 2, 1);
    const moments = [0, Date.UTC(1999, 11, 31), edge - 1, edge, edge + 1, Date.UTC(2091, 4, 5), newYear];
    const entries = moments.map((at, n) => ledgerEntry(`e${n}`, { at, priceVersion: null, costNanoUsd: 0 }));
    expect(await fixture.ledgerStore.insert(entries)).toBe(7);
    expect(await fixture.ledgerStore.insert(entries.toReversed())).toBe(0);
    const { entries: newestFirst } = await fixture.ledgerStore.page({}, null, 10);
    expect(newestFirst.map(({ at }) => at)).toEqual(moments.toSorted((a, b) => b - a));
    const inMarch = await fixture.ledgerStore.page({ from: edge, to: Date.UTC(2026, 3, 1) }, null, 10);
    expect(inMarch.entries.map(({ at }) => at - edge)).toEqual([1, 0]);
    await fixture.ledgerStore.createPartitions(newYear);
    expect(await fixture.ledgerStore.insert(entries)).toBe(0);
    const check = await fixture.ledgerStore.check();
    expect([check.entries, check.faults]).toEqual([7, []]);
  });

  test("prunes old entries from every month during other writes, and keeps the sums", async () => {
    await using fixture = await make();
    const months = [0, 1, 2, 3].map((month) => Date.UTC(2026, month, 1));
    const entryAt = (at: number, n: number) => ledgerEntry(`${at}_${n}`, { at, priceVersion: null, costNanoUsd: 0 });
    for (const month of months) {
      await fixture.ledgerStore.insert(Array.from({ length: 40 }, (_, n) => entryAt(month + n * 12 * hour, n)));
    }
    let written = 0;
    let pruned = false;
    const writing = (async () => {
      while (!pruned) {
        written += await fixture.ledgerStore.insert([entryAt(Date.UTC(2026, 4, 2) + written, 0)]);
        await new Promise(setImmediate);
      }
    })();
    // The tenth of March: two whole months and eighteen entries of the third.
    expect(await fixture.ledgerStore.prune(Date.UTC(2026, 2, 10))).toBe(40 + 40 + 18);
    pruned = true;
    await writing;
    expect(written).toBeGreaterThan(0);
    const check = await fixture.ledgerStore.check();
    expect([check.entries, check.faults]).toEqual([22 + 40 + written, []]);
    expect(await sumsOf(fixture)).toEqual({ "gpt-5": [160 + written, 0] });
    expect(await fixture.ledgerStore.prune(Date.UTC(2026, 2, 10))).toBe(0);
  });
}
