import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { usdToPico } from "./money.ts";
import {
  baseVersionId,
  type ClassPrices,
  cacheSavingsOf,
  chargedPrices,
  costOf,
  type PriceTable,
  type PriceVersion,
  pricedClasses,
  priceVariant,
  variantNamed,
} from "./price.ts";
import { noUsage, type Usage } from "./usage.ts";

const gpt: PriceTable = {
  inputUncached: usdToPico(1.25, "million"),
  cacheRead: usdToPico(0.125, "million"),
  output: usdToPico(10, "million"),
};

const inBigint = (table: ClassPrices, usage: Usage): bigint => {
  let pico = 0n;
  for (const name of pricedClasses) pico += BigInt(usage[name]) * BigInt(table[name] ?? 0);
  return (pico + 500n) / 1_000n;
};

describe("cost of a usage", () => {
  test("one million input and one million output tokens cost the two quoted prices", () => {
    expect(costOf(gpt, { ...noUsage, inputUncached: 1_000_000, output: 1_000_000 })).toBe(11_250_000_000);
  });

  test("a class without a price costs nothing", () => {
    expect(costOf(gpt, { ...noUsage, cacheWrite5m: 1_000, audioInput: 7 })).toBe(0);
    expect(costOf({}, { ...noUsage, output: 1_000 })).toBe(0);
  });

  test("reasoning tokens are part of the output and not charged again", () => {
    const usage = { ...noUsage, output: 500 };
    expect(costOf(gpt, { ...usage, reasoning: 400 })).toBe(costOf(gpt, usage));
  });

  test("half a nano-USD rounds up, less rounds down, and only the sum is rounded", () => {
    expect(costOf({ output: 500 }, { ...noUsage, output: 1 })).toBe(1);
    expect(costOf({ output: 499 }, { ...noUsage, output: 1 })).toBe(0);
    expect(costOf({ output: 499, inputUncached: 1 }, { ...noUsage, output: 1, inputUncached: 1 })).toBe(1);
  });

  test("a cache saves the difference to the price of input, minus the surcharge of writes", () => {
    const claude = { inputUncached: 3_000_000, cacheRead: 300_000, cacheWrite5m: 3_750_000, cacheWrite1h: 6_000_000 };
    const read = { ...noUsage, inputUncached: 50, cacheRead: 1_000, output: 9 };
    expect(cacheSavingsOf(claude, read)).toBe(2_700_000);
    expect(cacheSavingsOf(claude, { ...read, cacheWrite5m: 1_000 })).toBe(1_950_000);
    expect(cacheSavingsOf(claude, { ...noUsage, cacheWrite1h: 1_000 })).toBe(-3_000_000);
    expect(cacheSavingsOf(claude, { ...noUsage, inputUncached: 50 })).toBe(0);
    expect(cacheSavingsOf({ audioInput: 9_000, cacheReadAudio: 1_000 }, { ...noUsage, cacheReadAudio: 10 })).toBe(80);
    // The longer input decides the prices, whether or not it is cached.
    const long = { ...claude, longContext: { above: 500, prices: { inputUncached: 6_000_000, cacheRead: 600_000 } } };
    expect(cacheSavingsOf(long, read)).toBe(5_400_000);
  });

  test("an image at 0.04 USD costs exactly that", () => {
    expect(costOf({ images: usdToPico(0.04, "one") }, { ...noUsage, images: 3 })).toBe(120_000_000);
  });

  test("agrees with integer arithmetic for every price and count", () => {
    const count = fc.oneof(fc.nat(10), fc.nat(5_000_000), fc.maxSafeNat());
    const price = fc.oneof(fc.nat(1_000), fc.nat(100_000_000), fc.maxSafeNat());
    const classes = <T>(value: fc.Arbitrary<T>) =>
      fc.record(
        Object.fromEntries(pricedClasses.map((name) => [name, value])) as Record<keyof ClassPrices, typeof value>,
      );
    fc.assert(
      fc.property(classes(price), classes(count), (table, counts) => {
        const usage: Usage = { ...noUsage, ...counts };
        const exact = inBigint(table, usage);
        const held = exact > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(exact);
        expect(costOf(table, usage)).toBe(held);
      }),
      { numRuns: 2_000 },
    );
  });

  test("agrees with integer arithmetic around the largest exact number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), (less) => {
        const table = { output: Number.MAX_SAFE_INTEGER - less, inputUncached: 5_000 };
        const usage = { ...noUsage, output: 1, inputUncached: 1 };
        expect(BigInt(costOf(table, usage))).toBe(inBigint(table, usage));
      }),
      { numRuns: 1_000 },
    );
  });
});

test("uses the most specific price variant of a video, which its name identifies", () => {
  const price: PriceVersion = {
    id: "prc_1",
    model: "clip",
    table: { videoSeconds: 10, output: 5 },
    variants: [
      { resolution: "720p", audio: null, table: { videoSeconds: 20 } },
      { resolution: "720p", audio: true, table: { videoSeconds: 30 } },
      { resolution: null, audio: true, table: { output: 9 } },
    ],
    effectiveFrom: 0,
  };
  const found = (resolution: string | null, audio: boolean | null) => priceVariant(price, { resolution, audio }).price;
  expect(found("480p", false)).toBe(price);
  expect(found("720P", null)).toMatchObject({ id: "prc_1@0", table: { videoSeconds: 20, output: 5 } });
  expect(found("720p", true)).toMatchObject({ id: "prc_1@1", table: { videoSeconds: 30 } });
  expect(found(null, true)).toMatchObject({ id: "prc_1@2", table: { videoSeconds: 10, output: 9 } });
  expect(variantNamed(price, "prc_1@1")).toEqual(found("720p", true));
  expect(variantNamed(price, "prc_1")).toBe(price);
  expect(variantNamed(price, "prc_1@7")).toBeNull();
  expect(baseVersionId("prc_1@1")).toBe("prc_1");
});

describe("a request whose input is long", () => {
  const table = {
    inputUncached: 100,
    cacheRead: 10,
    output: 500,
    longContext: { above: 1_000, prices: { inputUncached: 500, output: 2_500 } },
  };

  test("costs the plain prices up to the threshold, and the long-context prices for the whole request beyond", () => {
    const usage = { ...noUsage, inputUncached: 400, cacheRead: 600, output: 100 };
    expect(costOf(table, usage)).toBe(Math.round((400 * 100 + 600 * 10 + 100 * 500) / 1_000));
    // Cached tokens count toward the threshold; a class without its own long-context price costs as usual.
    const longer = { ...usage, cacheRead: 601 };
    expect(costOf(table, longer)).toBe(Math.round((400 * 500 + 601 * 10 + 100 * 2_500) / 1_000));
    expect(chargedPrices(table, longer)).toMatchObject({ inputUncached: 500, cacheRead: 10, output: 2_500 });
  });

  test("is long by the sum of all input classes, not by its output", () => {
    for (const name of [
      "inputUncached",
      "cacheRead",
      "cacheWrite5m",
      "cacheWrite1h",
      "audioInput",
      "imageInput",
    ] as const) {
      expect(chargedPrices(table, { ...noUsage, [name]: 1_001 }).output).toBe(2_500);
      expect(chargedPrices(table, { ...noUsage, [name]: 1_000 }).output).toBe(500);
    }
    expect(chargedPrices(table, { ...noUsage, output: 5_000, audioOutput: 5_000, imageOutput: 5_000 }).output).toBe(
      500,
    );
  });
});
