import { expect, test } from "bun:test";
import { type PriceConfig, priceSchema } from "@sluice/contract";
import { usageTable } from "@sluice/contract/words";
import fc from "fast-check";
import { holdPrices } from "./hold-prices.ts";
import { costOf, type PriceVersion } from "./price.ts";
import { priceConfigOf, pricesOf } from "./price-config.ts";
import { noUsage, tokensOf } from "./usage.ts";

const usdPerMillion = fc.oneof(
  fc.integer({ min: 0, max: 9_000_000 }),
  fc.double({ min: 0, max: 9_000_000, noNaN: true }),
  fc.integer({ min: 0, max: 10_000_000 }).map((pico) => pico / 1_000_000),
);
const usdPerUnit = fc.oneof(
  fc.double({ min: 0, max: 9_000, noNaN: true }),
  fc.integer({ min: 0, max: 9_000_000 }).map((milli) => milli / 1_000),
);
const variant = fc.record(
  {
    resolution: fc.constantFrom("480p", "720p", "1080P", "2k"),
    audio: fc.boolean(),
    tier: fc.constantFrom("flex", "priority"),
    geo: fc.constant("us"),
    speed: fc.constant("fast"),
    multiplier: fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1_000),
    video: usdPerUnit,
    input: usdPerMillion,
    output: usdPerMillion,
    cache_read: usdPerMillion,
    audio_input: usdPerMillion,
    web_search: usdPerUnit,
  },
  { requiredKeys: [] },
);
const tokens = [
  "input",
  "output",
  "cache_read",
  "cache_write_5m",
  "cache_write_1h",
  "audio_input",
  "audio_output",
  "image_input",
  "image_output",
] as const;
const price: fc.Arbitrary<PriceConfig> = fc.record(
  {
    ...Object.fromEntries(tokens.map((name) => [name, usdPerMillion])),
    image: usdPerUnit,
    video: usdPerUnit,
    variants: fc.array(variant, { maxLength: 4 }),
    long_context: fc.record(
      {
        above: fc.integer({ min: 1, max: 2_000_000 }),
        ...Object.fromEntries(tokens.slice(0, 5).map((name) => [name, usdPerMillion])),
      },
      { requiredKeys: ["above"] },
    ),
  },
  { requiredKeys: [] },
);

test("a price that is stored, written and stored again keeps every pico-USD", () => {
  fc.assert(
    fc.property(price, (config) => {
      const stored = pricesOf(config);
      const shown = priceConfigOf(structuredClone(stored));
      expect(priceSchema.safeParse(shown).success).toBe(true);
      expect(JSON.stringify(pricesOf(shown))).toBe(JSON.stringify(stored));
    }),
    { numRuns: 2_000 },
  );
});

test("shows a price as it was written, without filled-in defaults", () => {
  const written: PriceConfig[] = [
    {},
    { input: 1.25, output: 10, cache_read: 0.125 },
    { input: 3, output: 15, cache_read: 0.3, cache_write_5m: 3.75, cache_write_1h: 6 },
    { image: 0.04 },
    {
      video: 0.35,
      variants: [
        { resolution: "1080p", video: 0.5 },
        { audio: false, output: 2.2 },
      ],
    },
    { input: 0, output: 0 },
  ];
  for (const config of written) expect(priceConfigOf(pricesOf(config))).toEqual(config);
});

test("a class stored without a price is shown as free", () => {
  expect(priceConfigOf({ table: { inputUncached: 1_250_000, output: 10_000_000 } })).toEqual({
    input: 1.25,
    output: 10,
    cache_read: 0,
    cache_write_5m: 0,
    audio_input: 0,
    audio_output: 0,
    image_input: 0,
    image_output: 0,
    separate_reasoning: 0,
  });
});

test("every class of tokens counts for limits, and defaults to the price of its side", () => {
  const price = pricesOf({ input: 1, output: 2 });
  const version: PriceVersion = { ...price, id: "prc_1", model: "m", effectiveFrom: 0 };
  for (const [index, row] of usageTable.entries()) {
    if (row.side === null) continue;
    const usage = { ...noUsage, [row.name]: 1_000_000 };
    expect([row.name, tokensOf(usage)]).toEqual([row.name, row.price === null ? 0 : 1_000_000]);
    if (row.price === null) continue;
    expect([row.name, costOf(price.table, usage)]).toEqual([row.name, row.side === "input" ? 1e9 : 2e9]);
    const dear = { ...version, table: { ...price.table, [row.name]: 9_000_000 } };
    const { text, image, audio, output } = holdPrices(dear, 0, () => "long");
    expect([row.name, row.side === "input" ? Math.max(text, image, audio) : output]).toEqual([row.name, 9_000_000]);
    const before: readonly string[] = usageTable.slice(0, index).map(({ name }) => name);
    if (row.costsAs !== null) expect(before).toContain(row.costsAs);
  }
});

test("in a long context a class costs its own long-context price, its own price, or the price of its side", () => {
  const { table } = pricesOf({
    ...{ input: 1, output: 10, cache_write_1h: 2, audio_input: 5 },
    long_context: { above: 1_000, input: 3, output: 20, cache_write_5m: 4 },
  });
  const cost = (usage: Partial<typeof noUsage>): number => costOf(table, { ...noUsage, ...usage });
  expect(cost({ inputUncached: 1_000, imageInput: 1 })).toBe(1_001 * 3_000);
  expect(cost({ inputUncached: 1_000, cacheRead: 500 })).toBe(1_500 * 3_000);
  expect(cost({ inputUncached: 1_000, audioInput: 1 })).toBe(1_000 * 3_000 + 5_000);
  expect(cost({ inputUncached: 1_000, cacheWrite1h: 1 })).toBe(1_000 * 3_000 + 2_000);
  expect(cost({ inputUncached: 1_000, cacheWrite5m: 1 })).toBe(1_000 * 3_000 + 4_000);
  expect(cost({ inputUncached: 1_001, audioOutput: 1, imageOutput: 1, output: 1 })).toBe(1_001 * 3_000 + 3 * 20_000);
  expect(cost({ inputUncached: 999, imageInput: 1 })).toBe(1_000 * 1_000);
});

test("shows a long-context price as written, also one stored before defaults were filled in", () => {
  const written: PriceConfig[] = [
    { input: 1.25, output: 10, cache_read: 0.125, long_context: { above: 200_000, input: 2.5, output: 15 } },
    { input: 2, output: 12, long_context: { above: 200_000, input: 4, output: 18, cache_read: 0.4 } },
    { input: 2, output: 12, long_context: { above: 200_000 } },
  ];
  for (const config of written) expect(priceConfigOf(pricesOf(config))).toEqual(config);
  const { table } = pricesOf({ input: 1, output: 10 });
  const older = { table: { ...table, longContext: { above: 1_000, prices: { inputUncached: 3_000_000 } } } };
  const shown = priceConfigOf(older);
  expect(shown).toMatchObject({ input: 1, cache_read: 1, audio_input: 1, image_input: 1, long_context: { input: 3 } });
  for (const member of ["output", "audio_output"]) expect(shown).not.toHaveProperty(`long_context.${member}`);
  expect(costOf(pricesOf(shown).table, { ...noUsage, inputUncached: 2_000, imageInput: 1 })).toBe(
    2_000 * 3_000 + 1_000,
  );
});
