import { describe, expect, test } from "bun:test";
import type { ConfigFile, ModelConfig } from "@sluice/contract/config-file";
import { ConfigSnapshotHolder } from "../../src/main/config-snapshot-holder.ts";
import { type ModelsFixture, openModelsFixture } from "./models-fixture.ts";

const show = async (fixture: ModelsFixture) => (await fixture.call("administrator", "priceList.show", {})).body;
const apply = (fixture: ModelsFixture, body: Readonly<Record<string, unknown>>) =>
  fixture.call("administrator", "priceList.apply", { body });
const model = async (fixture: ModelsFixture, name: string) =>
  (await fixture.call("administrator", "models.show", { params: { model: name } })).body;
const source = { actor: "test", ip: null };

/** A newer price list, in the format that the CLI uploads. */
const newer = (usd: number) => ({
  text: JSON.stringify([
    {
      id: "openai",
      models: [{ id: "gpt-5", match: { equals: "gpt-5" }, context_window: 7, prices: { input_mtok: usd } }],
    },
  ]),
  source: "prices.json",
  digest: String(usd),
});

async function opened(): Promise<ModelsFixture> {
  const fixture = await openModelsFixture();
  // The lists here are newer than the bundled one.
  fixture.clock.jump(Date.UTC(2026, 10, 24) - fixture.clock.now());
  await fixture.makeProvider("main", { kind: "openai" });
  await fixture.makeProvider("own", { kind: "openai-compatible" });
  return fixture;
}

const on = (provider: string, more: object = {}) => ({ deployments: [{ provider }], ...more });

describe("the price list", () => {
  test("proposes prices for models without one, and applies none before approval", async () => {
    await using fixture = await opened();
    await fixture.makeModel("gpt-5", on("main"));
    await fixture.makeModel("gpt-5-mini", on("main", { price: { input: 9 } }));
    await fixture.makeModel("gpt-5-nano", on("main", { unpriced: "allow" }));
    await fixture.makeModel("gpt-5.1", on("main", { unpriced: "block" }));
    await fixture.makeModel("house", on("own"));
    const seen = await show(fixture);
    expect(seen).toMatchObject({
      ...{ loaded_at: null, digest: null, source: expect.stringContaining("genai-prices") },
      ...{ published_at: expect.any(Number), age_days: expect.any(Number) },
    });
    expect(seen.changes).toEqual([
      {
        model: "gpt-5",
        provider: "main",
        upstream_model: "gpt-5",
        managed_by: "console",
        from: null,
        before: null,
        after: expect.objectContaining({ input: 1.25, output: 10 }),
        guessed: false,
      },
    ]);
    expect(await model(fixture, "gpt-5")).toMatchObject({
      price: null,
      price_origin: null,
      calls: "blocked_in_budgets",
      context_window: 400_000,
    });
    const done = await apply(fixture, { version: seen.version });
    expect(done.body).toMatchObject({ applied: ["gpt-5"], changes: [] });
    expect(await model(fixture, "gpt-5")).toMatchObject({
      price: { input: 1.25 },
      price_origin: "price_list",
      calls: "priced",
    });
    expect(await model(fixture, "gpt-5-mini")).toMatchObject({ price: { input: 9 }, price_origin: "set" });
    expect(await model(fixture, "gpt-5-nano")).toMatchObject({ price: null, calls: "free" });
    const audit = await fixture.database.kysely
      .selectFrom("audit_log")
      .selectAll()
      .where("action", "=", "set-price")
      .where("object", "=", "model gpt-5")
      .execute();
    expect(audit.map(({ after }) => JSON.parse(after ?? "null"))).toMatchObject([{ origin: "price_list" }]);
  });

  test("a newer list changes prices that came from it, as new versions, and none that were set since", async () => {
    await using fixture = await opened();
    await fixture.makeModel("gpt-5", on("main"));
    await apply(fixture, { version: (await show(fixture)).version });
    await fixture.controlStore.storePriceList(newer(3), source);
    const seen = await show(fixture);
    expect(seen).toMatchObject({ source: "prices.json", digest: "3", models: 1, loaded_at: expect.any(Number) });
    expect(seen.changes).toMatchObject([{ model: "gpt-5", before: { input: 1.25 }, after: { input: 3 } }]);
    expect((await apply(fixture, { version: seen.version, models: ["gpt-5"] })).body.applied).toEqual(["gpt-5"]);
    const prices = await fixture.call("administrator", "models.prices", { params: { model: "gpt-5" } });
    expect(prices.body.data).toMatchObject([
      { current: true, origin: "price_list", price: { input: 3 } },
      { current: false, origin: "price_list", price: { input: 1.25 } },
    ]);
    const set = { params: { model: "gpt-5" }, body: { price: { input: 4 } } };
    await fixture.call("administrator", "models.update", set);
    await fixture.controlStore.storePriceList(newer(5), source);
    expect((await show(fixture)).changes).toEqual([]);
    expect(
      await fixture.controlStore.applyListPrices([{ model: "gpt-5", price: { input: 5 }, from: null }], source),
    ).toEqual([]);
    expect((await model(fixture, "gpt-5")).price).toEqual({ input: 4 });
  });

  test("a price of an entry for a similar name is shown as a guess, before it is applied and after", async () => {
    await using fixture = await opened();
    const similar = [{ id: "gpt-5", match: { starts_with: "gpt-5" }, prices: { input_mtok: 3 } }];
    const text = JSON.stringify([{ id: "openai", models: similar }]);
    await fixture.controlStore.storePriceList({ text, source: "prices.json", digest: "guess" }, source);
    await fixture.makeModel("gpt-5.9", on("main"));
    await fixture.makeModel("gpt-5-mini", on("main"));
    const seen = await show(fixture);
    expect(seen.changes).toMatchObject([
      { model: "gpt-5-mini", guessed: false },
      { model: "gpt-5.9", guessed: true },
    ]);
    const done = await apply(fixture, { version: seen.version });
    expect(done.body).toMatchObject({ applied: ["gpt-5-mini", "gpt-5.9"], guessed: ["gpt-5.9"] });
    expect(await model(fixture, "gpt-5.9")).toMatchObject({ price: { input: 3 }, price_guessed: true });
    expect(await model(fixture, "gpt-5-mini")).toMatchObject({ price: { input: 3 }, price_guessed: false });
  });

  test("a price that begins on a day is shown thirty days ahead, can be applied in advance, and takes effect on that day", async () => {
    await using fixture = await opened();
    const dated = (usd: number) => [
      { prices: { input_mtok: 2 } },
      { constraint: { start_date: "2026-12-01" }, prices: { input_mtok: usd } },
      { constraint: { start_date: "2027-06-01" }, prices: { input_mtok: 9 } },
    ];
    const dataOf = (usd: number) => ({
      text: JSON.stringify([
        { id: "openai", models: [{ id: "gpt-5", match: { equals: "gpt-5" }, prices: dated(usd) }] },
      ]),
      ...{ source: "prices.json", digest: `dated ${usd}` },
    });
    const december = Date.UTC(2026, 11, 1);
    await fixture.makeModel("gpt-5", on("main"));
    await fixture.controlStore.storePriceList(dataOf(4), source);
    const seen = await show(fixture);
    expect(seen.changes).toMatchObject([
      { model: "gpt-5", from: null, before: null, after: { input: 2 } },
      { model: "gpt-5", from: december, before: { input: 2 }, after: { input: 4 } },
    ]);
    expect((await apply(fixture, { version: seen.version })).body).toMatchObject({ applied: ["gpt-5"], changes: [] });
    // Newer data has another price than the one applied in advance.
    await fixture.controlStore.storePriceList(dataOf(5), source);
    const newer = await show(fixture);
    expect(newer.changes).toMatchObject([{ from: december, before: { input: 4 }, after: { input: 5 } }]);
    await apply(fixture, { version: newer.version });

    const holder = await followed(fixture);
    const priced = () => holder.current.models.get("gpt-5")?.price;
    expect(priced()?.table.inputUncached).toBe(2_000_000);
    expect(await model(fixture, "gpt-5")).toMatchObject({
      price: { input: 2 },
      next_price: { from: december, price: { input: 5 }, origin: "price_list" },
    });
    while (fixture.clock.now() < december) {
      expect(priced()?.table.inputUncached).toBe(2_000_000);
      fixture.clock.advance(3_600_000);
      await holder.settled();
    }
    expect(priced()).toMatchObject({ table: { inputUncached: 5_000_000 }, effectiveFrom: december });
    holder.close();
    expect(await model(fixture, "gpt-5")).toMatchObject({ price: { input: 5 }, next_price: null });
    expect((await show(fixture)).changes).toEqual([]);
    const prices = await fixture.call("administrator", "models.prices", { params: { model: "gpt-5" } });
    expect(prices.body.data).toMatchObject([
      { id: priced()?.id ?? "", current: true, effective_from: december },
      { current: false, price: { input: 2 } },
    ]);
  });

  test("a future price can be set and removed, and setting a price now discards it", async () => {
    await using fixture = await opened();
    await fixture.makeModel("gpt-5", on("main", { price: { input: 1 } }));
    const update = (body: object) =>
      fixture.call("administrator", "models.update", { params: { model: "gpt-5" }, body });
    const later = fixture.clock.now() + 86_400_000;
    const next = { from: later, price: { input: 3 } };
    expect((await update({ next_price: next })).body).toMatchObject({
      price: { input: 1 },
      next_price: { from: later },
    });
    expect((await update({ next_price: null })).body).toMatchObject({ price: { input: 1 }, next_price: null });
    await update({ next_price: next });
    expect((await update({ price: { input: 2 } })).body).toMatchObject({ price: { input: 2 }, next_price: null });
    await update({ next_price: next });
    fixture.clock.advance(86_400_000);
    expect(await model(fixture, "gpt-5")).toMatchObject({ price: { input: 3 }, next_price: null });
    // A price that took effect is replaced like any other.
    expect((await update({ price: { input: 4 } })).body).toMatchObject({ price: { input: 4 } });
    const again = await update({ next_price: next });
    expect(again).toMatchObject({ status: 400, code: "invalid_request" });
    const prices = await fixture.call("administrator", "models.prices", { params: { model: "gpt-5" } });
    expect(prices.body.data.map((each: { price: { input: number } }) => each.price.input)).toEqual([4, 3, 2, 1]);
  });

  test("applies only the prices that were shown", async () => {
    await using fixture = await opened();
    await fixture.makeModel("gpt-5", on("main"));
    const { version } = await show(fixture);
    expect((await apply(fixture, { version, models: ["nobody"] })).code).toBe("invalid_request");
    await fixture.makeModel("gpt-5-mini", on("main"));
    expect(await apply(fixture, { version })).toMatchObject({ status: 409, code: "conflict" });
    expect((await model(fixture, "gpt-5")).price).toBeNull();
    for (const who of ["viewer", "admin"] as const) {
      expect((await fixture.call(who, "priceList.show", {})).status).toBe(403);
    }
  });

  test("keeps an applied price of a model whose config file sets no price", async () => {
    await using fixture = await opened();
    const file = (price?: object) => ({
      providers: [{ id: "filed", kind: "openai", api_key: "sk" }],
      models: [{ name: "gpt-5", deployments: [{ provider: "filed" }], ...(price === undefined ? {} : { price }) }],
    });
    await fixture.controlStore.apply(file(), "file");
    const seen = await show(fixture);
    expect(seen.changes).toMatchObject([{ model: "gpt-5", managed_by: "file" }]);
    await apply(fixture, { version: seen.version });
    await fixture.controlStore.apply(file(), "file");
    expect(await model(fixture, "gpt-5")).toMatchObject({ price: { input: 1.25 }, price_origin: "price_list" });
    await fixture.controlStore.apply(file({ input: 2 }), "file");
    expect(await model(fixture, "gpt-5")).toMatchObject({ price: { input: 2 }, price_origin: "set" });
    await fixture.controlStore.apply(file(), "file");
    expect(await model(fixture, "gpt-5")).toMatchObject({ price: null });
  });

  describe("a next price of the config file", () => {
    const file = (more: Pick<ModelConfig, "price" | "next_price">): ConfigFile => ({
      providers: [{ id: "filed", kind: "openai", api_key: "sk" }],
      models: [{ name: "gpt-5", deployments: [{ provider: "filed" }], ...more }],
    });
    const day = 86_400_000;

    test("takes effect at its time without another apply, and stays when the file is applied again", async () => {
      await using fixture = await opened();
      const from = fixture.clock.now() + 2 * day;
      const config = file({
        price: { input: 1 },
        next_price: { from: new Date(from).toISOString(), price: { input: 3 } },
      });
      await fixture.controlStore.apply(config, "file");
      const holder = await followed(fixture);
      const priced = () => holder.current.models.get("gpt-5")?.price?.table.inputUncached;
      const versions = async () =>
        (await fixture.call("administrator", "models.prices", { params: { model: "gpt-5" } })).body.data.length;
      await fixture.controlStore.apply(config, "file");
      expect(await model(fixture, "gpt-5")).toMatchObject({ price: { input: 1 }, next_price: { from } });
      expect(await versions()).toBe(2);
      while (fixture.clock.now() < from) {
        expect(priced()).toBe(1_000_000);
        fixture.clock.advance(3_600_000);
        await holder.settled();
      }
      expect(priced()).toBe(3_000_000);
      holder.close();
      await fixture.controlStore.apply(config, "file");
      expect(await model(fixture, "gpt-5")).toMatchObject({ price: { input: 3 }, next_price: null });
      expect(await versions()).toBe(2);
      // The file is cleaned up later: nothing changes.
      await fixture.controlStore.apply(file({ price: { input: 3 } }), "file");
      expect(await versions()).toBe(2);
    });

    test("can be replaced by another price or time, and is dropped when the file omits it", async () => {
      await using fixture = await opened();
      const at = (days: number) => fixture.clock.now() + days * day;
      const next = (days: number, input: number) => ({ from: new Date(at(days)).toISOString(), price: { input } });
      const applied = async (more: Parameters<typeof file>[0]) => {
        await fixture.controlStore.apply(file(more), "file");
        return await model(fixture, "gpt-5");
      };
      const price = { input: 1 };
      expect((await applied({ price, next_price: next(2, 3) })).next_price).toMatchObject({ from: at(2) });
      expect((await applied({ price, next_price: next(2, 4) })).next_price).toMatchObject({ price: { input: 4 } });
      expect((await applied({ price, next_price: next(3, 4) })).next_price).toMatchObject({ from: at(3) });
      // Changing the current price keeps the scheduled one.
      expect(await applied({ price: { input: 2 }, next_price: next(3, 4) })).toMatchObject({
        price: { input: 2 },
        next_price: { from: at(3), price: { input: 4 } },
      });
      expect(await applied({ price: { input: 2 } })).toMatchObject({ price: { input: 2 }, next_price: null });
      // A model may have no price until then.
      expect(await applied({ next_price: next(1, 5) })).toMatchObject({ price: null, next_price: { from: at(1) } });
      fixture.clock.advance(day);
      expect(await model(fixture, "gpt-5")).toMatchObject({ price: { input: 5 }, next_price: null });
      // A time in the past means now, even on the first apply.
      expect(await applied({ price, next_price: next(-9, 6) })).toMatchObject({
        price: { input: 6 },
        next_price: null,
      });
      expect(await applied({ price })).toMatchObject({ price, next_price: null });
    });

    test("a date means midnight UTC, and an export contains it again", async () => {
      await using fixture = await opened();
      const next_price = { from: "2027-01-01", price: { input: 3, output: 9 } };
      await fixture.controlStore.apply(file({ price: { input: 1 }, next_price }), "file");
      const midnight = Date.UTC(2027, 0, 1);
      expect((await model(fixture, "gpt-5")).next_price).toMatchObject({ from: midnight, price: { input: 3 } });
      const { config } = await fixture.controlStore.exportConfig(() => false);
      const [exported] = config.models ?? [];
      expect(exported?.next_price).toEqual({ ...next_price, from: "2027-01-01T00:00:00.000Z" });
      const before = await model(fixture, "gpt-5");
      await fixture.controlStore.apply(file({ price: { input: 1 }, ...exported }), "file");
      expect(await model(fixture, "gpt-5")).toEqual(before);
    });
  });

  test("an imported model gets its price, and the maximum output of its provider's list", async () => {
    await using fixture = await opened();
    const body = {
      models: [{ upstream_model: "gpt-5", name: "five", type: "chat", max_output_tokens: 128_000 }],
    };
    await fixture.call("administrator", "providers.import", { params: { provider: "main" }, body });
    expect(await model(fixture, "five")).toMatchObject({
      price: { input: 1.25, output: 10 },
      price_origin: "price_list",
      max_output_tokens: 128_000,
    });
  });

  test("shows when a vendor retires a model, if that is published", async () => {
    await using fixture = await opened();
    await fixture.makeModel("old", { deployments: [{ provider: "main", upstream_model: "gpt-4-0613" }] });
    await fixture.makeModel("gpt-5", on("main"));
    expect(await model(fixture, "old")).toMatchObject({ deprecated: true, retires_at: Date.UTC(2026, 9, 23) });
    expect(await model(fixture, "gpt-5")).toMatchObject({ deprecated: false, retires_at: null });
  });
});

async function followed({ controlStore, clock }: ModelsFixture): Promise<ConfigSnapshotHolder> {
  const read = () => controlStore.configSnapshot();
  const holder = new ConfigSnapshotHolder(read, clock, await read());
  holder.follow({ observer: { log: () => undefined } });
  return holder;
}

describe("the list price of one model", () => {
  const update = (fixture: ModelsFixture, name: string, body: object) =>
    fixture.call("administrator", "models.update", { params: { model: name }, body: { ...body } });

  test("is shown with the model, and replaces a manual price on request", async () => {
    await using fixture = await opened();
    await fixture.makeModel("fast", {
      deployments: [{ provider: "main", upstream_model: "gpt-5" }],
      price: { input: 9 },
    });
    expect(await model(fixture, "fast")).toMatchObject({
      ...{ price: { input: 9 }, price_origin: "set" },
      list_price: { price: { input: 1.25, output: 10 }, guessed: false },
    });
    const { body } = await update(fixture, "fast", { use_list_price: true });
    expect(body).toMatchObject({ price: { input: 1.25, output: 10 }, price_origin: "price_list" });
    const row = (await fixture.audit()).at(-1);
    expect([row?.action, row?.object]).toEqual(["set-price", "model fast"]);
    expect(JSON.parse(row?.after ?? "{}")).toMatchObject({ origin: "price_list" });
    const versions = (await fixture.call("administrator", "models.prices", { params: { model: "fast" } })).body.data;
    expect(versions.map(({ origin }: { origin: string }) => origin)).toEqual(["price_list", "set"]);
  });

  test("becomes the origin of a manual price with the same figures", async () => {
    await using fixture = await opened();
    await fixture.makeModel("gpt-5", on("main"));
    const { price } = (await model(fixture, "gpt-5")).list_price;
    await update(fixture, "gpt-5", { price });
    expect((await model(fixture, "gpt-5")).price_origin).toBe("set");
    await update(fixture, "gpt-5", { use_list_price: true });
    expect((await model(fixture, "gpt-5")).price_origin).toBe("price_list");
  });

  test("is found for a provider and an upstream model, and used when a model is created", async () => {
    await using fixture = await opened();
    const entry = async (provider: string, upstream_model: string) =>
      (await fixture.call("administrator", "priceList.entry", { query: { provider, upstream_model } })).body;
    expect(await entry("main", "gpt-5")).toMatchObject({ price: { input: 1.25 }, guessed: false });
    expect(await entry("own", "house-1")).toMatchObject({ price: null, guessed: false });
    const made = await fixture.makeModel("gpt-5", on("main", { use_list_price: true }));
    expect(made.body).toMatchObject({ price: { input: 1.25 }, price_origin: "price_list" });
    const missing = await fixture.makeModel("house", on("own", { use_list_price: true }));
    expect(missing).toMatchObject({ status: 400, param: "use_list_price" });
    const both = await update(fixture, "gpt-5", { use_list_price: true, price: { input: 1 } });
    expect(both).toMatchObject({ status: 400, param: "use_list_price" });
    expect(
      (await fixture.call("owner", "priceList.entry", { query: { provider: "main", upstream_model: "x" } })).status,
    ).toBe(403);
  });
});
