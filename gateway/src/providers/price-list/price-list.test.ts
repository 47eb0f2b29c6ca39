import { describe, expect, test } from "bun:test";
import { pricesOf } from "#core/index.ts";
import { providerKind, providerKinds } from "../kinds.ts";
import { bundledPriceList } from "./bundled-price-list.ts";
import { listPrice } from "./list-price.ts";
import { priceSource } from "./price-changes.ts";
import { priceListEntry } from "./price-list.ts";
import { readPriceList } from "./read-price-list.ts";

const day = "2026-11-23";
const today = Date.parse(day);

/** A price list of one provider's models. */
const priceListOf = (models: unknown, more: object = {}) =>
  readPriceList(JSON.stringify([{ id: "openai", models, ...more }]));
const priced = (prices: unknown, match: unknown = { equals: "m" }) => [{ id: "m", match, prices }];
const priceOf = (prices: unknown, on = day) => priceListEntry(priceListOf(priced(prices)), "openai", "m", on)?.price;

describe("the bundled price list", () => {
  test("has prices and context windows of common models, also by their dated and cloud names", async () => {
    const data = await bundledPriceList();
    const of = (kind: string, model: string) => priceListEntry(data, kind, model, day);
    expect(of("openai", "gpt-5")).toMatchObject({
      price: { input: 1.25, cache_read: 0.125, output: 10, web_search: 10 },
      contextWindow: 400_000,
      deprecated: false,
    });
    expect(of("openai", "gpt-5.4")?.price?.long_context).toEqual({
      above: 272_000,
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

  test("has only prices that the ledger can store as whole pico-USD", async () => {
    const data = await bundledPriceList();
    let known = 0;
    for (const { id } of providerKinds) {
      for (const provider of data.providers.values()) {
        for (const model of provider.models) {
          const price = priceListEntry(data, id, model.id, day)?.price;
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

  test("reads every model of its file", async () => {
    const file = new URL("bundled-price-list.generated.json", import.meta.url);
    const { providers, published } = await Bun.file(file).json();
    const data = await bundledPriceList();
    expect(data.publishedAt).toBe(Date.parse(published));
    const ids = (models: readonly { readonly id: string }[] = []) => models.map(({ id }) => id);
    for (const { id, models } of providers) expect(ids(data.providers.get(id)?.models)).toEqual(ids(models));
  });

  test("marks a match as guessed if another version number follows, but not for a date or revision", async () => {
    const data = priceListOf(
      priced({ input_mtok: 1 }, { or: [{ equals: "other" }, { starts_with: "claude-sonnet-5" }] }),
    );
    const guessed = (name: string) => priceListEntry(data, "openai", name, day)?.guessed;
    for (const name of ["claude-sonnet-5-5", "claude-sonnet-5.5", "claude-sonnet-5-5-20261001", "claude-sonnet-5-12"])
      expect([name, guessed(name)]).toEqual([name, true]);
    for (const suffix of ["", "-20261001", "-2026-10-01", "@20261001", "-latest", "-002", "-04-17", "-08-2026", "-24b"])
      expect([suffix, guessed(`claude-sonnet-5${suffix}`)]).toEqual([suffix, false]);
    const bundled = await bundledPriceList();
    expect(priceListEntry(bundled, "anthropic", "claude-sonnet-5-5", day)).toMatchObject({
      ...{ id: "claude-sonnet-5-5", guessed: false },
      price: { cache_read: 0.1 },
    });
    expect(priceListEntry(bundled, "anthropic", "claude-sonnet-5-7", day)).toBeNull();
  });

  test("adds missing prices for searches, one-hour cache writes and audio", async () => {
    const data = await bundledPriceList();
    const of = (kind: string, model: string) => priceListEntry(data, kind, model, day)?.price;
    expect(of("gemini", "gemini-2.5-flash")).toMatchObject({ web_search: 35, map_search: 25, cache_read_audio: 0.1 });
    expect(of("gemini", "gemini-3-pro-preview")).toMatchObject({ web_search: 14, map_search: 14 });
    expect(of("xai", "grok-4.7")).toMatchObject({ web_search: 5, code_session: 5, file_search: 2.5 });
    expect(of("bedrock", "us.anthropic.claude-opus-4-1-20250805-v1:0")).toMatchObject({
      input: 15,
      cache_write_1h: 30,
    });
    expect(of("openai", "gpt-4o-audio-preview")).toMatchObject({ audio_input: 40, audio_output: 80 });
    expect(of("openai", "gpt-6.1-sol")).toMatchObject({
      ...{ cache_write_1h: 5, code_session: 30, web_search: 10 },
      long_context: { cache_write_1h: 10 },
    });
    for (const [id, { models }] of data.providers) {
      for (const model of models) {
        const price = listPrice({ provider: id, model }, day);
        if (
          /claude/.test(model.id) &&
          price?.cache_write_5m !== undefined &&
          ["anthropic", "aws", "google"].includes(id)
        )
          expect([model.id, price.cache_write_1h]).toEqual([model.id, expect.any(Number)]);
      }
    }
  });

  test("has a price for every starter model", async () => {
    const source = priceSource(await bundledPriceList(), today);
    for (const kind of providerKinds.filter(({ id }) => id !== "demo")) {
      for (const { name } of kind.starterModels)
        expect(source.price(kind.id, name), `${kind.id} ${name}`).not.toBeNull();
    }
    expect(providerKind("openai")?.starterModels.length).toBeGreaterThan(0);
  });
});

describe("reading a price", () => {
  test("applies from its start date, and uses the highest of prices that vary by time of day", () => {
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

  test("is null if it has a unit that we cannot charge, rather than too low", () => {
    expect(priceOf({ input_document_kpages: 1 })).toBeNull();
    expect(priceOf({ input_mtok: 1, something_new: 1 })).toBeNull();
    expect(priceOf({ input_mtok: 1, cache_audio_read_mtok: 1 })).toEqual({ input: 1, cache_read_audio: 1 });
    expect(priceOf({ input_mtok: 5, cache_read_mtok: 1, cache_image_read_mtok: 2 })).toEqual({
      input: 5,
      cache_read: 2,
    });
    expect(priceOf({ input_mchars: 15 })).toEqual({ character: 15 });
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
  ])("skips only the model with the invalid price %j", (prices) => {
    const data = priceListOf([...priced(prices), { id: "n", match: { equals: "n" }, prices: { input_mtok: 2 } }]);
    expect(priceListEntry(data, "openai", "m", day)).toBeNull();
    expect(priceListEntry(data, "openai", "n", day)?.price).toEqual({ input: 2 });
  });
});

test("ignores a pattern that could be slow to match, but not its alternatives", () => {
  const long = `${"a".repeat(255)}!`;
  for (const regex of ["(a+)+$", "(a|a)*$", "a*a*a*b", "(a{2,}){2,}$", "[", "(a|aa){9}"]) {
    const data = priceListOf(priced({ input_mtok: 1 }, { or: [{ regex }, { equals: "m" }] }));
    expect(priceListEntry(data, "openai", long, day)).toBeNull();
    expect(priceListEntry(data, "openai", "M", day)?.price).toEqual({ input: 1 });
  }
});

test.each([["{"], ["{}"], ["[]"], ["null"], ['[{"id":"openai","models":[]}]'], ['{"providers":{"id":"openai"}}']])(
  "rejects %s, which is not a price list",
  (text) => {
    expect(() => readPriceList(text)).toThrow("not a price list");
  },
);

test("fails the release check if the price list is more than thirty days old", async () => {
  const { publishedAt } = await bundledPriceList();
  const script = new URL("../../../../scripts/check-price-list.mjs", import.meta.url).pathname;
  const on = (days: number) => new Date((publishedAt ?? 0) + days * 86_400_000).toISOString().slice(0, 10);
  const check = (when: string) =>
    Bun.spawnSync([process.execPath, script, when], { stdout: "ignore", stderr: "ignore" });
  expect([0, 30, 31].map((days) => check(on(days)).exitCode)).toEqual([0, 0, 1]);
  expect(check("no day").exitCode).toBe(1);
});
