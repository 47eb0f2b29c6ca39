import { expect, test } from "bun:test";
import fc from "fast-check";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import type { LedgerFilter } from "#ports/index.ts";
import { ledgerEntry, newYear, type StoreFixtureFactory } from "./store-fixture.ts";

const hour = 3_600_000;

/** Usage by model for matching entries. */
export function ledgerUsageTests(make: StoreFixtureFactory): void {
  test("sums the usage of the matching entries, for any period", async () => {
    await using fixture = await make();
    const entries = Array.from({ length: 120 }, (_, n) =>
      ledgerEntry(`u${n}`, {
        at: newYear + n * 217_777,
        model: `m${n % 3}`,
        keyId: `key_${n % 2}`,
        retryIndex: n % 4 === 0 ? 1 : 0,
        outcome: n % 5 === 0 ? "failed" : "succeeded",
        usage: { ...noUsage, inputUncached: n, cacheWrite1h: 2, audioInput: 1, output: 3 * n, imageOutput: 4 },
        costNanoUsd: 1_000 + n,
        ...(n % 3 === 1 ? { vendorCostNanoUsd: 2_000 + n } : {}),
        ...(n % 6 === 4 ? ({ costSource: "vendor", costNanoUsd: 2_000 + n, ownCostNanoUsd: 900 + n } as const) : {}),
      }),
    );
    await fixture.ledgerStore.insert(entries);
    const moment = fc.option(fc.integer({ min: newYear - hour, max: newYear + 9 * hour }), { nil: null });
    const filter = fc.record({ from: moment, to: moment, key: fc.boolean(), failed: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(filter, async ({ from, to, key, failed }) => {
        const query: LedgerFilter = {
          ...(from === null ? {} : { from }),
          ...(to === null ? {} : { to }),
          ...(key ? { keyId: "key_1" } : {}),
          ...(failed ? { outcome: "failed" } : {}),
        };
        const matching = entries.filter(
          (e) =>
            e.at >= (from ?? 0) &&
            e.at < (to ?? Number.POSITIVE_INFINITY) &&
            (!key || e.keyId === "key_1") &&
            (!failed || e.outcome === "failed"),
        );
        expect([...(await fixture.ledgerStore.usage(query))]).toEqual(expectedUsage(matching));
      }),
      { numRuns: 60 },
    );
  });
}

function expectedUsage(entries: readonly LedgerEntry[]) {
  const models = [...new Set(entries.map((e) => e.model))].toSorted();
  return models.map((model) => {
    const own = entries.filter((e) => e.model === model);
    const sum = (value: (e: LedgerEntry) => number) => own.reduce((all, e) => all + value(e), 0);
    return {
      model,
      requests: sum((e) => (e.retryIndex === 0 ? 1 : 0)),
      inputTokens: sum((e) => e.usage.inputUncached + e.usage.cacheWrite1h + e.usage.audioInput),
      outputTokens: sum((e) => e.usage.output + e.usage.imageOutput),
      costNanoUsd: sum((e) => e.costNanoUsd),
      vendorCostNanoUsd: sum((e) => e.vendorCostNanoUsd ?? 0),
      comparedCostNanoUsd: sum((e) => (e.vendorCostNanoUsd === undefined ? 0 : (e.ownCostNanoUsd ?? e.costNanoUsd))),
    };
  });
}
