import { expect, test } from "bun:test";
import { noUsage } from "#core/index.ts";
import type { BilledUsage } from "#ports/index.ts";
import type { BillLine } from "./bill.ts";
import { compareDay } from "./compare.ts";

const prices = { inputUncached: 1_000_000, output: 10_000_000 };

/** Calls of a model with 100 input and 10 output tokens each, at 1 and 10 USD per million. */
function ours(calls: number, more: Partial<BilledUsage> = {}): BilledUsage {
  return {
    ...{
      model: "gpt",
      upstreamModel: "gpt-6",
      adjustment: null,
      adjusts: null,
      isEstimated: false,
      isBroken: false,
    },
    ...{ served: null, runsOver: false, calls, prices, costNanoUsd: calls * 200_000 },
    usage: { ...noUsage, inputUncached: 100 * calls, output: 10 * calls },
    ...more,
  };
}

function theirs(
  usageClass: BillLine["usageClass"],
  units: number | null,
  costNanoUsd: number | null,
  more: Partial<BillLine> = {},
): BillLine {
  return {
    day: "2026-11-27",
    model: "gpt-6-2026-08-07",
    usageClass,
    units,
    costNanoUsd,
    requests: null,
    tier: null,
    ...more,
  };
}

const compared = (bill: readonly BillLine[], entries: readonly BilledUsage[], tolerance = 0.005) =>
  compareDay({ bill, entries, before: [], tolerance }).lines.map(
    ({ usageClass, isMatched, causes, differenceNanoUsd }) => [
      usageClass,
      isMatched ? "matched" : causes.map(({ cause, units, nanoUsd }) => [cause, units, nanoUsd]),
      differenceNanoUsd,
    ],
  );

test("matches dated names of models, and ignores differences within the tolerance", () => {
  const bill = [theirs("input", 1_000, 1_000_000), theirs("output", 100, 1_004_000)];
  expect(compared(bill, [ours(10)])).toEqual([
    ["input", "matched", 0],
    ["output", "matched", 4_000],
  ]);
  expect(compared(bill, [ours(10)], 0)[1]).toEqual(["output", [["wrong_price", null, 4_000]], 4_000]);
});

test("divides more units between estimated calls and calls past the gateway by the requests", () => {
  const entries = [ours(9), ours(1, { isEstimated: true })];
  // Two requests more, of 12: a sixth of the units.
  const bill = [theirs("input", 1_500, 1_500_000, { requests: 12 }), theirs("output", 100, 1_000_000)];
  expect(compared(bill, entries)[0]).toEqual([
    "input",
    [
      ["past_gateway", 250, 250_000],
      ["estimated", 250, 250_000],
    ],
    500_000,
  ]);
  // As many requests: the estimate was wrong.
  const same = [theirs("input", 1_500, 1_500_000, { requests: 10 }), theirs("output", 100, 1_000_000)];
  expect(compared(same, entries)[0]?.[1]).toEqual([["estimated", 500, 500_000]]);
});

test("names usage that is on the bill only, or in the ledger only", () => {
  expect(compared([theirs("output", 10, 100_000, { model: "other" })], [ours(1)])).toEqual([
    ["input", [["not_billed", -100, -100_000]], -100_000],
    ["output", [["not_billed", -10, -100_000]], -100_000],
    ["output", [["past_gateway", 10, 100_000]], 100_000],
  ]);
});

test("finds a tier that the ledger does not have, before it suspects the price", () => {
  const bill = [theirs("input", 100, 100_000), theirs("output", 10, 200_000, { tier: "priority" })];
  expect(compared(bill, [ours(1)])[1]?.[1]).toEqual([["tier", null, 100_000]]);
  expect(compared(bill, [ours(1, { served: "priority" })])[1]?.[1]).toEqual([["wrong_price", null, 100_000]]);
});

test("an adjustment closes the difference of its line", () => {
  const adjustment = ours(0, {
    adjustment: "reconciliation",
    adjusts: "output",
    costNanoUsd: 20_000,
    usage: noUsage,
    prices: null,
  });
  const bill = [theirs("input", 100, 100_000), theirs("output", 10, 120_000)];
  expect(compared(bill, [ours(1), adjustment])[1]).toEqual(["output", "matched", 0]);
});

test("does not offer the price of a tier as the model's price", () => {
  const priceOf = (served: string | null) =>
    compareDay({
      bill: [theirs("input", 100, 100_000), theirs("output", 10, 50_000, { tier: served })],
      entries: [ours(1, { served })],
      ...{ before: [], tolerance: 0.005 },
    }).lines.map(({ causes, vendorPicoUsd }) => [causes[0]?.cause, vendorPicoUsd]);
  expect(priceOf(null)[1]).toEqual(["wrong_price", 5_000_000]);
  expect(priceOf("batch")[1]).toEqual(["wrong_price", null]);
});

test("cached input of calls without usage is not a call past the gateway", () => {
  const blind = ours(1, { isEstimated: true });
  const bill = [
    theirs("input", 60, 60_000, { requests: 1 }),
    theirs("cache_read", 40, 4_000),
    theirs("output", 10, 100_000),
  ];
  expect(compared(bill, [blind])).toEqual([
    ["input", [["estimated", -40, -40_000]], -40_000],
    ["cache_read", [["estimated", 40, 4_000]], 4_000],
    ["output", "matched", 0],
  ]);
});
