import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import { createAdjustments, exportEntries, type OwnedAdjustment } from "#ledger/index.ts";
import { splitByWeight } from "../../src/ledger/adjustments.ts";
import { ledgerEntry, newYear, type StoreFixture, type StoreFixtureFactory } from "./store-fixture.ts";

const hour = 3_600_000;
const noon = newYear + 12 * hour;

/** The difference of one day to a vendor's bill. */
const difference = {
  id: "reconciliation/openai-main/2026-01-01/gpt-5/output",
  reason: "reconciliation",
  adjusts: "output",
  at: noon,
  provider: "openai-main",
  models: ["gpt-5"],
  acceptedBy: "usr_ada",
} as const;

/** Guarantees of adjustments on every implementation of `LedgerStore`. */
export function adjustmentSuite(name: string, make: StoreFixtureFactory): void {
  describe(`adjustments: ${name}`, () => {
    test("splits a difference over the users of the model that day, exactly and by cost", async () => {
      await using fixture = await make();
      const { store, adjustments, adjusted } = open(fixture);
      await store.insert([
        usage("a", { keyId: "key_1", costNanoUsd: 100 }),
        usage("b", { keyId: "key_1", costNanoUsd: 100, at: newYear + 23 * hour }),
        usage("c", { keyId: "key_2", personId: "usr_bob", tags: { team: "ads" }, costNanoUsd: 100 }),
        usage("d", { workspaceId: "ws_2", groupId: "grp_2", keyId: "key_3", costNanoUsd: 300 }),
        // Another day, model and provider.
        usage("e", { keyId: "key_4", at: newYear + 24 * hour }),
        usage("f", { keyId: "key_5", model: "gpt-6" }),
        usage("g", { keyId: "key_6", provider: "spare" }),
      ]);
      expect(await adjustments.split({ ...difference, costNanoUsd: -1_001 })).toBe(3);
      const booked = await adjusted();
      expect(
        booked.map(({ workspaceId, keyId, personId, costNanoUsd }) => [workspaceId, keyId, personId, costNanoUsd]),
      ).toEqual([
        ["ws_1", "key_1", undefined, -334],
        ["ws_1", "key_2", "usr_bob", -167],
        ["ws_2", "key_3", undefined, -500],
      ]);
      expect(booked.map(({ tags }) => tags)).toEqual([{}, { team: "ads" }, {}]);
      expect(new Set(booked.map(({ requestId }) => requestId)).size).toBe(1);
      expect(booked[0]).toMatchObject({
        ...{ at: noon, endpoint: "adjustment", calls: 0, adjustment: "reconciliation", adjusts: "output" },
        ...{ actorId: "usr_ada", usage: noUsage, priceVersion: null, costSource: "adjustment" },
      });
      expect((await store.check()).faults).toEqual([]);
    });

    test("books an adjustment once, also when it is accepted again after late calls", async () => {
      await using fixture = await make();
      const { store, adjustments, adjusted, updates } = open(fixture);
      await store.insert([usage("a", { keyId: "key_1" })]);
      expect(await adjustments.split({ ...difference, costNanoUsd: 700 })).toBe(1);
      await store.insert([usage("late", { keyId: "key_2" })]);
      expect(await adjustments.split({ ...difference, costNanoUsd: 900 })).toBe(0);
      const owned: OwnedAdjustment = {
        ...{ id: "import/litellm/team", reason: "opening_balance", adjusts: "imp_1", provider: "", model: "gpt-5" },
        ...{ at: noon, costNanoUsd: 12, owner: { workspaceId: "ws_1", groupId: "grp_1", keyId: "", tags: {} } },
      };
      const booked = [await adjustments.book([owned]), await adjustments.book([owned, owned])];
      expect(booked).toEqual([1, 0]);
      expect((await adjusted()).map(({ costNanoUsd }) => costNanoUsd)).toEqual([12, 700]);
      expect(updates.map((entries) => entries.length)).toEqual([1, 1]);
      expect((await store.check()).faults).toEqual([]);
    });

    test("charges no one if the model had no users, and splits by attempts if no call cost anything", async () => {
      await using fixture = await make();
      const { store, adjustments, adjusted } = open(fixture);
      expect(await adjustments.split({ ...difference, costNanoUsd: 5 })).toBeNull();
      await store.insert([
        usage("a", { keyId: "key_1", costNanoUsd: 0 }),
        usage("b", { keyId: "key_2", costNanoUsd: 0 }),
        usage("c", { keyId: "key_2", costNanoUsd: 0 }),
      ]);
      expect(await adjustments.split({ ...difference, costNanoUsd: 300 })).toBe(2);
      expect((await adjusted()).map(({ keyId, costNanoUsd }) => [keyId, costNanoUsd])).toEqual([
        ["key_1", 100],
        ["key_2", 200],
      ]);
    });

    test("is part of sums without counting a request, and stays in sums of days and of months", async () => {
      await using fixture = await make();
      const { store, adjustments } = open(fixture);
      await store.insert([usage("a", { costNanoUsd: 1_000, priceVersion: "prc_gone" })]);
      await store.sumHours(newYear + 48 * hour);
      await store.sumDay(newYear + 48 * hour);
      await adjustments.split({ ...difference, costNanoUsd: -1_500 });
      const [sum] = await store.usage({ from: newYear, to: newYear + 24 * hour });
      expect(sum).toMatchObject({ model: "gpt-5", requests: 1, costNanoUsd: -500 });
      while ((await store.fold()) > 0);
      await store.sumHours(newYear + 48 * hour);
      await store.sumDay(newYear + 48 * hour);
      const { entries, costNanoUsd, faults } = await store.check();
      expect({ entries, costNanoUsd, faults }).toEqual({ entries: 2, costNanoUsd: "-500", faults: [] });
      expect((await store.recent(newYear, newYear + 48 * hour)).reduce((all, { requests }) => all + requests, 0)).toBe(
        1,
      );
    });

    test("is exported as a row with its reason", async () => {
      await using fixture = await make();
      const { store, adjustments } = open(fixture);
      await store.insert([usage("a")]);
      await adjustments.split({ ...difference, costNanoUsd: -7 });
      const lines: string[] = [];
      for await (const line of exportEntries({ store, filter: {}, format: "csv" })) lines.push(line);
      const header = (lines[0] ?? "").trim().split(",");
      const row = (lines[1] ?? "").trim().split(",");
      const value = (column: string) => row[header.indexOf(column)];
      expect(["endpoint", "calls", "cost_nano_usd", "adjustment", "adjusts", "actor_id"].map(value)).toEqual([
        ...["adjustment", "0", "-7", "reconciliation", "output", "usr_ada"],
      ]);
    });

    test("verification finds an adjustment that counts a call or lacks a reason", async () => {
      await using fixture = await make();
      const { store, adjustments, adjusted } = open(fixture);
      await store.insert([usage("a")]);
      await adjustments.split({ ...difference, costNanoUsd: 9 });
      const [good] = await adjusted();
      const { adjustment: _, calls: __, ...bad } = good as LedgerEntry;
      await store.insert([{ ...bad, attemptId: "adj_bad" }]);
      const { faults } = await store.check();
      expect(faults.map(({ rule }) => rule)).toContain("an adjustment is no call, has a reason, and no usage");
    });
  });

  test(`splits any amount exactly: ${name}`, () => {
    const amount = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
    const weights = fc.array(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(amount, weights, (total, given) => {
        const parts = splitByWeight(total, given);
        expect(parts.reduce((sum, part) => sum + BigInt(part), 0n)).toBe(BigInt(total));
        const whole = given.reduce((sum, weight) => sum + BigInt(weight), 0n);
        for (const [index, part] of parts.entries()) {
          if (whole === 0n) break;
          const exact = (BigInt(total) * BigInt(given[index] ?? 0)) / whole;
          expect(Math.abs(Number(BigInt(part) - exact))).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
}

function open(fixture: StoreFixture) {
  const store = fixture.ledgerStore;
  const updates: (readonly LedgerEntry[])[] = [];
  const adjustments = createAdjustments({
    store,
    onBooked: async (entries) => {
      updates.push(entries);
    },
  });
  const adjusted = async () => {
    const { entries } = await store.page({}, null, 100);
    return entries.filter(({ endpoint }) => endpoint === "adjustment").toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
  };
  return { store, adjustments, adjusted, updates };
}

function usage(name: string, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  return ledgerEntry(name, changes);
}
