import { describe, expect, test } from "bun:test";
import { pricesOf } from "#core/index.ts";
import { providerKind, providerKinds } from "../kinds.ts";
import { bundledCatalogue } from "./bundled-catalogue.ts";
import { catalogueEntry } from "./catalogue.ts";
import { priceSource } from "./price-changes.ts";
import { readCatalogue } from "./read-catalogue.ts";

const day = "2026-11-23";
const today = Date.parse(day);

/** A catalogue of one provider's models. */
const catalogueOf = (models: unknown, more: object = {}) =>
  readCatalogue(JSON.stringify([{ id: "openai", models, ...more }]));
const priced = (prices: unknown, match: unknown = { equals: "m" }) => [{ id: "m", match, prices }];
const priceOf = (prices: unknown, on = day) => catalogueEntry(catalogueOf(priced(prices)), "openai", "m", on)?.price;

describe("the catalogue that comes with the program", () => {
  test("knows the usual models of the large vendors with price and size, by dated names and clouds' names too", async () => {
    const data = await bundledCatalogue();
    const of = (kind: string, model: string) => catalogueEntry(data, kind, model, day);
    expect(of("openai", "gpt-5")).toMatchObject({
      price: { input: 1.25, cache_read: 0.125, output: 10, web_search: 10 },
      contextWindow: 400_000,
      deprecated: false,
    });
    expect(of("openai", "gpt-5.4")?.price?.long_context).toEqual({
      above: 271_999,
      input: 5,
      cache_read: 0.5,
      output: 22.5,
    });
    expect(of("anthropic", "claude-haiku-4-5-20251001")?.price).toMatchObject({
      input: 1,
      cache_write_5m: 1.25,
      cache_write_1h: 2,
    });
    expect(of("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0")?.price?.input).toBeGreaterThan(0);
    expect(of("vertex", "claude-haiku-4-5@20251001")?.price?.input).toBeGreaterThan(0);
    expect(of("azure-openai", "gpt-5-mini")?.price?.input).toBe(0.25);
    for (const kind of ["openai-compatible", "ollama", "vllm", "demo", "nonsense", "constructor"]) {
      expect(of(kind, "gpt-5")).toBeNull();
    }
    expect(of("openai", "nobody-has-it")).toBeNull();
  });

  test("every price of it is one that the ledger can hold in whole pico-USD", async () => {
    const data = await bundledCatalogue();
    let known = 0;
    for (const { id } of providerKinds) {
      for (const provider of data.providers.values()) {
        for (const model of provider.models) {
          const price = catalogueEntry(data, id, model.id, day)?.price;
          if (price == null) continue;
          known++;
          const { long_context: long, variants: _variants, ...plain } = price;
          for (const usd of [...Object.values(plain), ...Object.values(long ?? {})])
            expect(usd).toBeGreaterThanOrEqual(0);
          const { table } = pricesOf(price);
          expect(
            Object.values(table).filter((pico) => typeof pico === "number" && !Number.isSafeInteger(pico)),
          ).toEqual([]);
        }
      }
    }
    expect(known).toBeGreaterThan(500);
  });

  test("models that a new installation offers have a price from it or from their kind", async () => {
    const source = priceSource(await bundledCatalogue(), false, today);
    for (const kind of providerKinds.filter(({ id }) => id !== "demo")) {
      for (const { name } of kind.starterModels)
        expect(source.price(kind.id, name), `${kind.id} ${name}`).not.toBeNull();
    }
    expect(providerKind("openai")?.starterModels.length).toBeGreaterThan(0);
  });
});

describe("a price of the data", () => {
  test("begins on its day, and of several times of the day the dearest counts", () => {
    const dated = [
      { prices: { input_mtok: 3 } },
      { constraint: { type: "start_date", start_date: "2027-01-01" }, prices: { input_mtok: 1 } },
    ];
    expect([priceOf(dated), priceOf(dated, "2027-01-01")]).toEqual([{ input: 3 }, { input: 1 }]);
    const timed = [
      { prices: { input_mtok: 1, output_mtok: 9 } },
      { constraint: { start_date: "2026-08-17" }, prices: { input_mtok: 2, output_mtok: 3 } },
      { constraint: { start_time: "01:00:00Z", end_time: "04:00:00Z" }, prices: { input_mtok: 4, output_mtok: 2 } },
    ];
    expect(priceOf(timed)).toEqual({ input: 4, output: 3 });
  });

  test("that is charged by what no price of ours says is not known, rather than too small", () => {
    expect(priceOf({ input_document_kpages: 1 })).toBeNull();
    expect(priceOf({ input_mtok: 1, something_new: 1 })).toBeNull();
    expect(priceOf({ input_mtok: 1, cache_audio_read_mtok: 1 })).toEqual({ input: 1 });
    expect(priceOf({})).toBeNull();
    expect(priceOf({ input_audio_hours: 0.36 })).toEqual({ audio_second: 0.0001 });
  });

  test.each([
    [{ input_mtok: -1 }],
    [{ input_mtok: "1" }],
    [{ input_mtok: 1e9 }],
    [{ input_mtok: { base: 1, tiers: [] } }],
    [{ input_mtok: { base: 1, tiers: [{ start: 0, price: 1 }] } }],
    [[{ constraint: { weekday: "monday" }, prices: { input_mtok: 1 } }]],
    [null],
  ])("%j leaves its model out, and the rest is read", (prices) => {
    const data = catalogueOf([...priced(prices), { id: "n", match: { equals: "n" }, prices: { input_mtok: 2 } }]);
    expect(catalogueEntry(data, "openai", "m", day)).toBeNull();
    expect(catalogueEntry(data, "openai", "n", day)?.price).toEqual({ input: 2 });
  });
});

test("a pattern that could take long is not used, and its alternatives are", () => {
  const long = `${"a".repeat(255)}!`;
  for (const regex of ["(a+)+$", "(a|a)*$", "a*a*a*b", "(a{2,}){2,}$", "[", "(a|aa){9}"]) {
    const data = catalogueOf(priced({ input_mtok: 1 }, { or: [{ regex }, { equals: "m" }] }));
    expect(catalogueEntry(data, "openai", long, day)).toBeNull();
    expect(catalogueEntry(data, "openai", "M", day)?.price).toEqual({ input: 1 });
  }
});

test.each([["{"], ["{}"], ["[]"], ["null"], ['[{"id":"openai","models":[]}]'], ['{"providers":{"id":"openai"}}']])(
  "%s is no catalogue",
  (text) => {
    expect(() => readCatalogue(text)).toThrow("no catalogue of prices");
  },
);
