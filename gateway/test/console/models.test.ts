import { describe, expect, test } from "bun:test";
import { noUsage } from "#core/index.ts";
import { type ModelsFixture, openModelsFixture } from "./models-fixture.ts";

const change = (fixture: ModelsFixture, model: string, body: Readonly<Record<string, unknown>>) =>
  fixture.call("administrator", "models.update", { params: { model }, body });
const shown = (fixture: ModelsFixture, model: string) =>
  fixture.call("administrator", "models.show", { params: { model } });
const namesOf = (body: { data: { name: string }[] }) => body.data.map((model) => model.name);

async function openWithProviders(): Promise<ModelsFixture> {
  const fixture = await openModelsFixture();
  await fixture.makeProvider("main", { kind: "openai" });
  await fixture.makeProvider("spare");
  return fixture;
}

describe("a model of the console", () => {
  test("is created with its deployments and price, and is shown as it was sent", async () => {
    await using fixture = await openWithProviders();
    const price = { input: 1.25, output: 10, cache_read: 0.125 };
    const made = await fixture.makeModel("gpt-5", {
      price,
      deployments: [
        { provider: "main", priority: 2 },
        { provider: "spare", upstream_model: "up", weight: 7 },
      ],
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: "gpt-5",
      type: "chat",
      owned_by: "openai",
      fallbacks: [],
      price,
      last_week: { requests: 0, failed_requests: 0, cost_usd: 0 },
      managed_by: "console",
      deployments: [
        { provider: "spare", upstream_model: "up", priority: 1, weight: 7, enabled: true, capabilities: null },
        { provider: "main", upstream_model: "gpt-5", priority: 2, weight: 100 },
      ],
    });
    expect(made.body.endpoints).toContain("/v1/messages");
    // The API of an OpenAI-compatible server comes first; the OpenAI account behind it offers more APIs.
    expect(made.body.untranslated_endpoints).toContain("/v1/chat/completions");
    expect(made.body.untranslated_endpoints).not.toContain("/v1/messages");
    expect(made.body.untranslated_endpoints).not.toContain("/v1/responses");
    expect((await shown(fixture, "gpt-5")).body).toEqual(made.body);
    expect((await fixture.controlStore.configSnapshot()).models.get("gpt-5")?.price?.id).toBe(made.body.price_version);
  });

  test("stores a maximum output until it is unset; other changes keep it", async () => {
    await using fixture = await openWithProviders();
    const made = await fixture.makeModel("gpt-5", { max_output_tokens: 64_000 });
    expect(made.body.max_output_tokens).toBe(64_000);
    expect((await fixture.controlStore.configSnapshot()).models.get("gpt-5")?.outputTokensMax).toBe(64_000);
    expect((await change(fixture, "gpt-5", { owned_by: "me" })).body.max_output_tokens).toBe(64_000);
    expect((await change(fixture, "gpt-5", { max_output_tokens: 0 })).code).toBe("invalid_request");
    expect((await change(fixture, "gpt-5", { max_output_tokens: null })).body.max_output_tokens).toBeNull();
    expect((await fixture.controlStore.configSnapshot()).models.get("gpt-5")?.outputTokensMax).toBeNull();
  });

  test("uses the context window of the price list until one is set, and again when it is unset", async () => {
    await using fixture = await openWithProviders();
    const window = ({ body }: { body: { context_window?: unknown; context_window_origin?: unknown } }) => [
      body.context_window,
      body.context_window_origin,
    ];
    expect(window(await fixture.makeModel("house"))).toEqual([null, null]);
    expect(window(await fixture.makeModel("gpt-5"))).toEqual([400_000, "price_list"]);
    expect(window(await change(fixture, "gpt-5", { context_window: 32_000 }))).toEqual([32_000, "set"]);
    expect(window(await change(fixture, "gpt-5", { owned_by: "me" }))).toEqual([32_000, "set"]);
    const { contextWindow, deployments } = (await fixture.controlStore.configSnapshot()).models.get("gpt-5") ?? {};
    expect([contextWindow, deployments?.map((each) => each.contextWindow)]).toEqual([32_000, [32_000]]);
    expect((await change(fixture, "gpt-5", { context_window: 0 })).code).toBe("invalid_request");
    expect(window(await change(fixture, "gpt-5", { context_window: null }))).toEqual([400_000, "price_list"]);
  });

  test("lists last week's usage that its price does not cover, until the price is complete", async () => {
    await using fixture = await openWithProviders();
    await fixture.makeProvider("claude", { kind: "anthropic" });
    await fixture.makeProvider("router", { kind: "openrouter" });
    const usage = { ...noUsage, inputUncached: 9, cacheRead: 9, cacheWrite5m: 9, output: 9, webSearches: 2 };
    const price = { input: 3, output: 15 };
    const at = fixture.clock.now() - 1;
    const left = async (model: string) => (await shown(fixture, model)).body.unpriced_usage;
    for (const [model, provider] of [
      ["claude-sonnet-4-5", "claude"],
      ["house", "spare"],
      ["routed", "router"],
    ] as const) {
      await fixture.makeModel(model, { price, deployments: [{ provider }] });
      expect(await left(model)).toEqual([]);
      fixture.figures.used = [{ model, at, requests: 1, failedRequests: 0, costUsd: 1, usage }];
      // Cache writes cost more than input if the price list says so; cache reads never do.
      const writes = provider === "claude" ? ["cache_write_5m"] : [];
      expect(await left(model)).toEqual(provider === "router" ? [] : [...writes, "web_searches"]);
    }
    await change(fixture, "claude-sonnet-4-5", { price: { ...price, cache_write_5m: 3.75, web_search: 10 } });
    fixture.figures.used = [{ model: "claude-sonnet-4-5", at, requests: 1, failedRequests: 0, costUsd: 1, usage }];
    expect(await left("claude-sonnet-4-5")).toEqual([]);
  });

  test("accepts slashes, punctuation and other URL characters in its name", async () => {
    await using fixture = await openWithProviders();
    for (const name of ["acme/big/model:1", "50%2Foff", "a%b", "was?&=+", "模型/é", "x/prices"]) {
      expect([name, (await fixture.makeModel(name)).status]).toEqual([name, 201]);
      expect((await shown(fixture, name)).body.name).toBe(name);
      expect((await change(fixture, name, { owned_by: "me" })).body.owned_by).toBe("me");
      const prices = await fixture.call("administrator", "models.prices", { params: { model: name } });
      expect([name, prices.status, prices.body.data]).toEqual([name, 200, []]);
      expect((await fixture.call("administrator", "models.remove", { params: { model: name } })).status).toBe(200);
      expect((await shown(fixture, name)).code).toBe("not_found");
    }
  });

  test("rejects names that a path cannot carry unchanged", async () => {
    await using fixture = await openWithProviders();
    for (const name of ["a#b", "a\\b", "a//b", "/a", "a/", "..", "a/../b", "a/./b", "a/..;x", "a b", "a*", "a\u0007"]) {
      const made = await fixture.makeModel(name);
      expect([name, made.status, made.param]).toEqual([name, 400, "name"]);
    }
  });

  test("keeps omitted fields, also of its deployments, and their ids", async () => {
    await using fixture = await openWithProviders();
    await fixture.makeModel("film", {
      type: "video",
      owned_by: "me",
      price: { video: 0.35, variants: [{ resolution: "1080p", video: 0.5 }] },
      deployments: [{ provider: "main", weight: 7, enabled: false, capabilities: { durations: [5] } }],
    });
    const before = (await shown(fixture, "film")).body;
    const rows = (await fixture.audit()).length;
    expect((await change(fixture, "film", {})).body).toEqual(before);
    expect((await change(fixture, "film", { price: before.price, fallbacks: [] })).body).toEqual(before);
    expect((await fixture.audit()).length).toBe(rows);
    const both = await change(fixture, "film", { deployments: [{ provider: "main" }, { provider: "spare" }] });
    expect(both.body.deployments[0]).toEqual(before.deployments[0]);
    expect(both.body.deployments[1]).toMatchObject({ provider: "spare", weight: 100, enabled: true });
    const less = await change(fixture, "film", { deployments: [{ provider: "main", capabilities: null }] });
    expect(less.body.deployments).toEqual([{ ...before.deployments[0], capabilities: null }]);
    expect((await fixture.audit()).at(-1)?.object).toContain("film at main");
  });

  test("gets a new price version with each change, and old versions stay", async () => {
    await using fixture = await openWithProviders();
    const first = (await fixture.makeModel("gpt-5", { price: { input: 1, output: 2 } })).body.price_version;
    fixture.clock.jump(1_000);
    const second = (await change(fixture, "gpt-5", { price: { input: 1, output: 3 } })).body.price_version;
    expect(second).not.toBe(first);
    expect((await change(fixture, "gpt-5", { price: { input: 1, output: 3 } })).body.price_version).toBe(second);
    const list = async () =>
      (await fixture.call("administrator", "models.prices", { params: { model: "gpt-5" } })).body;
    expect((await list()).data).toEqual([
      { id: second, effective_from: fixture.clock.now(), price: { input: 1, output: 3 }, origin: "set", current: true },
      {
        id: first,
        effective_from: fixture.clock.now() - 1_000,
        price: { input: 1, output: 2 },
        origin: "set",
        current: false,
      },
    ]);
    expect((await change(fixture, "gpt-5", { price: null })).body).toMatchObject({ price: null, price_version: null });
    expect((await list()).data.map((version: { current: boolean }) => version.current)).toEqual([false, false]);
  });

  test("is refused with the field that is wrong", async () => {
    await using fixture = await openWithProviders();
    await fixture.makeModel("gpt-5");
    const main = { provider: "main" };
    const wrong: [string, Record<string, unknown>, number, string | null][] = [
      ["gpt-5", {}, 409, "name"],
      ["a b", {}, 400, "name"],
      ["star*", {}, 400, "name"],
      ["new", { deployments: [] }, 400, "deployments"],
      ["new", { deployments: [{ provider: "nobody" }] }, 400, "deployments[0].provider"],
      ["new", { deployments: [main, main] }, 400, "deployments[1]"],
      ["new", { fallbacks: ["new"] }, 400, "fallbacks[0]"],
      ["new", { fallbacks: ["gpt-6"] }, 400, "fallbacks[0]"],
      ["new", { fallbacks: ["gpt-5", "gpt-5"] }, 400, "fallbacks[1]"],
      ["new", { price: { input: -1 } }, 400, "price.input"],
      ["new", { price: { image: 9_001 } }, 400, "price.image"],
      ["new", { price: { variants: [{ video: 9_001 }] } }, 400, "price.variants[0].video"],
      ["new", { type: "song" }, 400, "type"],
    ];
    for (const [name, fields, status, param] of wrong) {
      const answer = await fixture.makeModel(name, fields);
      expect([name, fields, answer.status, answer.param]).toEqual([name, fields, status, param]);
    }
    expect((await change(fixture, "nobody", { type: "chat" })).code).toBe("not_found");
    expect(namesOf((await fixture.call("administrator", "models.list")).body)).toEqual(["gpt-5"]);
  });

  test("is not removed while another model falls back to it; a missing fallback does not block other changes", async () => {
    await using fixture = await openWithProviders();
    const providers = [{ id: "filed", kind: "openai" }];
    const filed = [{ name: "of-the-file", deployments: [{ provider: "filed" }] }];
    await fixture.controlStore.apply({ providers, models: filed }, "file");
    await fixture.makeModel("small");
    await fixture.makeModel("big", { fallbacks: ["small", "of-the-file"] });
    const refused = await fixture.call("administrator", "models.remove", { params: { model: "small" } });
    expect([refused.code, refused.body.error.message]).toEqual(["conflict", expect.stringContaining("big")]);
    await fixture.controlStore.apply({}, "file");
    expect((await change(fixture, "big", { owned_by: "me" })).body.fallbacks).toEqual(["small", "of-the-file"]);
    expect((await change(fixture, "big", { fallbacks: [] })).status).toBe(200);
    expect((await fixture.call("administrator", "models.remove", { params: { model: "small" } })).status).toBe(200);
  });

  test("from the config file is shown but cannot be changed", async () => {
    await using fixture = await openWithProviders();
    const providers = [{ id: "filed", kind: "openai" }];
    await fixture.controlStore.apply({ providers, models: [{ name: "m", deployments: [{ provider: "filed" }] }] }, "f");
    expect((await shown(fixture, "m")).body.managed_by).toBe("file");
    expect((await change(fixture, "m", { price: { input: 1 } })).code).toBe("managed_by_file");
    const remove = await fixture.call("administrator", "models.remove", { params: { model: "m" } });
    expect([remove.status, remove.code]).toEqual([409, "managed_by_file"]);
  });
});

describe("models for callers", () => {
  test("are those that one of their workspaces may call, without their deployments", async () => {
    await using fixture = await openWithProviders();
    await fixture.makeModel("gpt-5");
    await fixture.makeModel("acme/own");
    const { kysely } = fixture.database;
    const only = JSON.stringify(["acme/*"]);
    await kysely.updateTable("workspaces").set({ models: only }).where("id", "=", fixture.acme.id).execute();
    await fixture.makeModel("acme/second");
    const list = await fixture.call("viewer", "models.list");
    expect(namesOf(list.body)).toEqual(["acme/own", "acme/second"]);
    expect(Object.keys(list.body.data[0])).not.toContain("deployments");
    expect(Object.keys(list.body.data[0])).not.toContain("last_week");
    expect(Object.keys(list.body.data[0])).not.toContain("unpriced_usage");
    expect(namesOf((await fixture.call("stranger", "models.list")).body)).toEqual(["acme/own", "acme/second", "gpt-5"]);
    expect((await fixture.call("viewer", "models.show", { params: { model: "gpt-5" } })).code).toBe("not_found");
    expect((await fixture.call("viewer", "models.show", { params: { model: "acme/own" } })).status).toBe(200);
    expect((await fixture.call("owner", "models.prices", { params: { model: "acme/own" } })).code).toBe("forbidden");
    expect((await fixture.call("newcomer", "models.list")).code).toBe("forbidden");
    // A model that the caller may not see is not shown as a fallback either.
    await fixture.makeModel("acme/third", { fallbacks: ["gpt-5", "acme/own"] });
    const third = { params: { model: "acme/third" } };
    expect((await fixture.call("viewer", "models.show", third)).body.fallbacks).toEqual(["acme/own"]);
    expect((await fixture.call("viewer", "models.list")).body.data.at(-1).fallbacks).toEqual(["acme/own"]);
    expect((await fixture.call("administrator", "models.show", third)).body.fallbacks).toEqual(["gpt-5", "acme/own"]);
    const search = await fixture.call("stranger", "models.list", { query: { search: "OWN" } });
    expect(namesOf(search.body)).toEqual(["acme/own"]);
  });

  test("show administrators the usage of the last week", async () => {
    await using fixture = await openWithProviders();
    await fixture.makeModel("gpt-5");
    const used = { model: "gpt-5", requests: 12, failedRequests: 3, costUsd: 1.5, usage: { ...noUsage } };
    const now = fixture.clock.now();
    fixture.figures.used = [
      { ...used, at: now - 86_400_000 },
      { ...used, at: now - 8 * 86_400_000, requests: 99 },
    ];
    const { body } = await fixture.call("administrator", "models.list");
    expect(body.data[0].last_week).toEqual({ requests: 12, failed_requests: 3, cost_usd: 1.5 });
  });
});

describe("price simulation", () => {
  const simulate = (fixture: ModelsFixture, body: Record<string, unknown>) =>
    fixture.call("administrator", "models.simulate", { params: { model: "gpt-5" }, body });

  test("computes each class exactly and reports what has no price", async () => {
    await using fixture = await openWithProviders();
    await fixture.makeModel("gpt-5");
    const usage = { ...noUsage, inputUncached: 3_000_000, cacheRead: 1_000_000, output: 333, reasoning: 40, images: 2 };
    fixture.figures.used = [{ model: "gpt-5", requests: 10, failedRequests: 0, costUsd: 4.2, usage, at: 5_000 }];
    const price = { input: 0.1, output: 7, variants: [{ resolution: "720p", output: 1 }] };
    const { body } = await simulate(fixture, { price, from: 1_000, to: 9_000 });
    expect(body).toMatchObject({
      from: 1_000,
      to: 9_000,
      requests: 10,
      usage: { input: 3_000_000, cache_read: 1_000_000, output: 333, image: 2 },
      cost_usd: 4.2,
      simulated_usd: 0.402331,
      lines: [
        { class: "input", units: 3_000_000, unit_usd: 0.000_000_1, usd: 0.3 },
        { class: "cache_read", units: 1_000_000, unit_usd: 0.000_000_1, usd: 0.1 },
        { class: "output", units: 333, unit_usd: 0.000_007, usd: 0.002331 },
      ],
    });
    expect(body.notes.join(" ")).toContain("`image` has no price, so 2 units");
    expect(body.notes.join(" ")).toContain("base price");
    expect(body.remarks).toHaveLength(body.notes.length);
    expect(body.remarks).toContainEqual({ code: "class_without_price", params: { class: "image", count: 2 } });
  });

  test("reports a period without usage, and rejects one that ends before it begins", async () => {
    await using fixture = await openWithProviders();
    await fixture.makeModel("gpt-5");
    const none = await simulate(fixture, { price: {}, from: 0, to: 10 });
    expect(none.body).toMatchObject({
      requests: 0,
      simulated_usd: 0,
      lines: [],
      notes: ["Nothing was used in this period."],
      remarks: [{ code: "nothing_used", params: {} }],
    });
    expect(await simulate(fixture, { price: {}, from: 10, to: 10 })).toMatchObject({ status: 400, param: "to" });
    await fixture.call("administrator", "models.remove", { params: { model: "gpt-5" } });
    expect((await simulate(fixture, { price: {}, from: 0, to: 10 })).code).toBe("not_found");
  });
});
