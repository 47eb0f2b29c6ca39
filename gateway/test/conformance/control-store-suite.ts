import { describe, expect, test } from "bun:test";
import type { ConfigFile } from "@sluice/contract";
import { Secret } from "#core/index.ts";
import { ConfigConflict } from "#directory/index.ts";
import {
  acmeConfig,
  acmeWith,
  allWorkspaces,
  by,
  ciSecret,
  findKey,
  makeKey,
  newKey,
  type StoreFixture,
  type StoreFixtureFactory,
  texts,
  wholeText,
} from "./store-fixture.ts";

/** Guarantees of every implementation of the port `ControlStore`. */
export function controlStoreSuite(name: string, make: StoreFixtureFactory): void {
  describe(`control store: ${name}`, () => {
    applyTests(make);
    priceTests(make);
    ownershipTests(make);
    secretTests(make);
    conflictTests(make);
    consoleTests(make);
  });
}

function applyTests(make: StoreFixtureFactory): void {
  test("returns the whole file in the config snapshot, with defaults filled in", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    const configSnapshot = await fixture.controlStore.configSnapshot();
    const main = configSnapshot.providers.get("openai-main");
    expect(main?.baseUrl).toBe("https://api.openai.com/v1");
    expect(main?.secret?.reveal()).toBe("upstream-canary-secret");
    expect(main?.settings).toEqual({ secret_access_key: "settings-canary-secret", region: "eu" });
    expect(main?.timeouts).toMatchObject({ connectMs: 1_234, headersMs: 600_000 });
    expect(main?.disconnect).toBe("drain");
    const model = configSnapshot.models.get("gpt-5");
    expect(model).toMatchObject({ type: "chat", fallbacks: ["gpt-5-mini"], createdAt: fixture.clock.now() / 1_000 });
    expect(model?.deployments.map((d) => [d.provider.id, d.upstreamModel, d.priority, d.weight])).toEqual([
      ["openai-main", "gpt-5", 1, 100],
      ["spare", "gpt", 2, 100],
    ]);
    // Classes without their own price use the price of plain tokens.
    expect(model?.price?.table).toEqual({
      inputUncached: 1_250_000,
      cacheRead: 125_000,
      cacheWrite5m: 1_250_000,
      cacheWrite1h: 1_250_000,
      output: 10_000_000,
      audioInput: 1_250_000,
      audioOutput: 10_000_000,
      imageInput: 1_250_000,
      imageOutput: 10_000_000,
      cacheReadAudio: 1_250_000,
      separateReasoning: 10_000_000,
    });
    expect(configSnapshot.models.get("gpt-5-mini")?.price).toBeNull();
    const [workspace] = configSnapshot.workspaces.values();
    expect(workspace).toMatchObject({ slug: "acme", models: ["*"], enabled: true });
    expect(workspace?.scope).toMatchObject({
      label: "workspace acme",
      budget: { nanoUsd: 500_000_000_000, period: "month" },
    });
    const groups = [...configSnapshot.groups.values()].map((group) => [
      group.scope.label,
      group.models,
      group.scope.limits,
    ]);
    expect(groups).toEqual([
      ["group acme/batch", ["*"], { concurrency: 2 }],
      ["group acme/default", ["gpt-*"], { rpm: 600, fail: "open" }],
    ]);
    expect(configSnapshot.settings).toEqual({
      "ledger.durability": "strict",
      "ledger.retention_days": 30,
      "ledger.export": null,
      "explanations.retention_days": 30,
      "captures.retention_days": 7,
      "audit.retention_days": 3_650,
      "disconnect.default": "drain",
      drain_timeout_ms: 120_000,
      "keys.stale_max": 3_600,
      retry_sent: false,
      "video.copy_results": false,
      "files.workspace_gigabytes": 50,
      unpriced: "block_in_budgets",
      "console.name": "",
      "console.accent": "",
      "console.logo": "",
      "console.announcement": "",
      log_bodies: "none",
    });
  });

  test("blocks a model without a price as the model says, or else as the settings say", async () => {
    await using fixture = await make();
    const file = (more: object) => ({
      providers: [{ id: "main", kind: "openai", api_key: "sk" }],
      models: [{ name: "bare", deployments: [{ provider: "main" }], ...more }],
    });
    const blocked = async () => (await fixture.controlStore.configSnapshot()).models.get("bare")?.blocked ?? null;
    await fixture.controlStore.apply(file({}), "test");
    expect(await blocked()).toBe("in_budgets");
    await fixture.controlStore.apply(file({ unpriced: "allow" }), "test");
    expect(await blocked()).toBeNull();
    await fixture.controlStore.apply(file({ unpriced: "block" }), "test");
    expect(await blocked()).toBe("always");
    await fixture.controlStore.apply(file({ price: { input: 1 } }), "test");
    await fixture.controlStore.apply(file({}), "test");
    expect(await blocked()).toBe("in_budgets");
    await fixture.controlStore.apply({ ...file({}), settings: { unpriced: { price_as: "bare" } } }, "test");
    expect(await blocked()).toBe("always");
    await fixture.controlStore.apply({ ...file({}), settings: { unpriced: "allow" } }, "test");
    expect(await blocked()).toBeNull();
  });

  test("returns a snapshot that cannot be changed", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    const configSnapshot = await fixture.controlStore.configSnapshot();
    const model = configSnapshot.models.get("gpt-5");
    for (const value of [
      configSnapshot,
      configSnapshot.settings,
      model,
      model?.deployments,
      model?.deployments[0],
      model?.price,
    ]) {
      expect(Object.isFrozen(value)).toBe(true);
    }
  });

  test("neither changes nor reports anything when the same file is applied again", async () => {
    await using fixture = await make();
    expect((await fixture.controlStore.apply(acmeConfig, "test")).length).toBeGreaterThan(5);
    const before = await wholeText(fixture.database);
    fixture.clock.jump(1_000);
    expect(await fixture.controlStore.apply(structuredClone(acmeConfig), "test")).toEqual([]);
    expect(await wholeText(fixture.database)).toBe(before);
  });

  test("keeps the id of an object that changes", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    const before = await fixture.controlStore.configSnapshot();
    const report = await fixture.controlStore.apply(
      {
        ...acmeWith({ name: "Acme Inc", limits: { rpm: 5 } }),
        models: [{ name: "gpt-5", deployments: [{ provider: "openai-main", weight: 1 }] }],
      },
      "test",
    );
    expect(texts(report)).toContain("updated workspace acme");
    expect(texts(report)).toContain("suspended model gpt-5-mini");
    expect(texts(report)).toContain("removed deployment gpt-5 at spare/gpt");
    const after = await fixture.controlStore.configSnapshot();
    expect([...after.workspaces.keys()]).toEqual([...before.workspaces.keys()]);
    expect([...after.groups.keys()]).toEqual([...before.groups.keys()]);
    expect(after.models.get("gpt-5")?.deployments[0]?.id).toBe(before.models.get("gpt-5")?.deployments[0]?.id ?? "");
    expect(after.version).toBeGreaterThan(before.version);
  });

  test("suspends all objects of the file when the file is empty", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    await fixture.controlStore.apply({}, "test");
    const configSnapshot = await fixture.controlStore.configSnapshot();
    expect([
      configSnapshot.workspaces.size,
      configSnapshot.groups.size,
      configSnapshot.providers.size,
      configSnapshot.models.size,
    ]).toEqual([0, 0, 0, 0]);
    expect(configSnapshot.settings["ledger.durability"]).toBe("disk");
    expect(await findKey(fixture, ciSecret)).toBeNull();
  });

  test("rejects the durability `remote` without PostgreSQL, and changes nothing", async () => {
    await using fixture = await make();
    const file = { ...acmeConfig, settings: { ledger: { durability: "remote" as const } } };
    const applied = await fixture.controlStore.apply(file, "test").catch((thrown: unknown) => thrown);
    const durability = (await fixture.controlStore.configSnapshot()).settings["ledger.durability"];
    if (fixture.database.flavour.name === "postgres") {
      expect(durability).toBe("remote");
      return;
    }
    expect(durability).toBe("disk");
    expect(applied).toBeInstanceOf(ConfigConflict);
    expect(String(applied)).toMatch(/settings\.ledger\.durability: `remote` needs PostgreSQL/);
  });

  test("creates a default group in a workspace that declares no groups", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(
      { workspaces: [{ slug: "solo", keys: [{ name: "k", secret: ciSecret }] }] },
      "test",
    );
    const [listing] = await allWorkspaces(fixture);
    expect(listing).toMatchObject({ slug: "solo", name: "solo", groups: 1, keys: 1, managed_by: "file" });
  });

  test("writes an audit row with actor, action, object, before and after for every change", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "file a.yaml");
    await fixture.controlStore.apply(acmeWith({ name: "Acme Inc" }), "file b.yaml");
    const last = await fixture.database.kysely
      .selectFrom("audit_log")
      .selectAll()
      .orderBy("seq", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    expect(last).toMatchObject({ actor: "file b.yaml", action: "update", object: "workspace acme" });
    expect(JSON.parse(last.before ?? "")).toMatchObject({ name: "Acme" });
    expect(JSON.parse(last.after ?? "")).toMatchObject({ name: "Acme Inc" });
  });
}

function priceTests(make: StoreFixtureFactory): void {
  test("creates a version for a changed price, and keeps the version of an unchanged one", async () => {
    await using fixture = await make();
    const priced = (output: number): ConfigFile => ({
      providers: acmeConfig.providers ?? [],
      models: [{ name: "m", deployments: [{ provider: "spare" }], price: { output, input: 1 } }],
    });
    const current = async () => (await fixture.controlStore.configSnapshot()).models.get("m")?.price;
    await fixture.controlStore.apply(priced(10), "test");
    const first = await current();
    await fixture.controlStore.apply({ ...priced(10), settings: { drain_timeout_ms: 5 } }, "test");
    expect((await current())?.id).toBe(first?.id ?? "");
    fixture.clock.jump(60_000);
    expect(texts(await fixture.controlStore.apply(priced(12), "test"))).toEqual([
      "set price of model m",
      "removed setting drain_timeout_ms",
    ]);
    const second = await current();
    expect(second?.id).not.toBe(first?.id ?? "");
    expect(second?.effectiveFrom).toBe(fixture.clock.now());
    expect(await fixture.ledgerStore.price(first?.id ?? "")).toEqual(first ?? null);
    await fixture.controlStore.apply({}, "test");
    expect(await fixture.ledgerStore.price(second?.id ?? "")).toEqual(second ?? null);
  });

  test("removes a price that leaves the file, and creates a version for a free model", async () => {
    await using fixture = await make();
    const model = { name: "m", deployments: [{ provider: "spare" }] };
    const providers = acmeConfig.providers ?? [];
    await fixture.controlStore.apply({ providers, models: [{ ...model, price: {} }] }, "test");
    expect((await fixture.controlStore.configSnapshot()).models.get("m")?.price?.table).toEqual({});
    await fixture.controlStore.apply({ providers, models: [model] }, "test");
    expect((await fixture.controlStore.configSnapshot()).models.get("m")?.price).toBeNull();
  });
}

function ownershipTests(make: StoreFixtureFactory): void {
  test("keeps objects of the console when a file is applied", async () => {
    await using fixture = await make();
    await fixture.controlStore.addWorkspace({ slug: "own", name: "Own" }, by("admin"));
    const key = newKey("mine", { workspace: "own" });
    await makeKey(fixture, key, "admin");
    await fixture.controlStore.apply(acmeConfig, "test");
    await fixture.controlStore.apply({}, "test");
    expect((await findKey(fixture, key.secret.reveal()))?.enabled).toBe(true);
    expect((await allWorkspaces(fixture)).map((w) => [w.slug, w.managed_by])).toEqual([
      ["acme", "suspended"],
      ["own", "console"],
    ]);
  });

  test("takes over an object of the console with the same name, and keeps its id", async () => {
    await using fixture = await make();
    const created = await fixture.controlStore.addWorkspace({ slug: "acme", name: "Made by hand" }, by("admin"));
    const key = newKey("later");
    const { id } = await makeKey(fixture, key, "admin");
    const report = await fixture.controlStore.apply(acmeConfig, "test");
    expect(texts(report)).toContain("took over workspace acme");
    expect(texts(report)).toContain("took over key acme/later");
    const [workspace] = await allWorkspaces(fixture);
    expect(workspace).toMatchObject({ id: created.id, name: "Acme", managed_by: "file" });
    expect((await findKey(fixture, key.secret.reveal()))?.id).toBe(id);
  });

  test("releases a workspace that leaves the file but has a key of the console", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    const key = newKey("mine");
    await makeKey(fixture, key, "admin");
    const report = await fixture.controlStore.apply({}, "test");
    expect(texts(report)).toContain("released workspace acme");
    expect(texts(report)).toContain("released group acme/default");
    expect(texts(report)).toContain("suspended group acme/batch");
    expect((await findKey(fixture, key.secret.reveal()))?.enabled).toBe(true);
    expect(await findKey(fixture, ciSecret)).toBeNull();
    expect(await fixture.controlStore.apply({}, "test")).toEqual([]);
  });

  test("seeds once, as objects of the console that a file can take over", async () => {
    await using fixture = await make();
    const seed: ConfigFile = {
      providers: [{ id: "openai-main", kind: "openai", api_key: "from-the-environment" }],
      models: [{ name: "gpt-5", deployments: [{ provider: "openai-main" }] }],
    };
    expect((await fixture.controlStore.seed(seed, "first start")).length).toBeGreaterThan(0);
    expect(await fixture.controlStore.seed({ providers: acmeConfig.providers ?? [] }, "first start")).toEqual([]);
    expect(await fixture.controlStore.apply({}, "test")).toEqual([]);
    expect((await fixture.controlStore.configSnapshot()).models.size).toBe(1);
    const report = await fixture.controlStore.apply(acmeConfig, "test");
    expect(texts(report)).toContain("took over provider openai-main");
    expect(texts(report)).toContain("took over model gpt-5");
  });
}

function secretTests(make: StoreFixtureFactory): void {
  test("stores every secret encrypted", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    await fixture.controlStore.apply({ ...acmeConfig, providers: [], models: [] }, "test");
    await fixture.controlStore.apply(acmeConfig, "test");
    const key = newKey("mine");
    await makeKey(fixture, key, "admin");
    const text = await wholeText(fixture.database);
    for (const secret of ["upstream-canary", "settings-canary", ciSecret, key.secret.reveal()]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString("base64url").slice(0, 16));
    }
  });

  test("forgets a provider's secret when its address changes", async () => {
    await using fixture = await make();
    const provider = (changes: object): ConfigFile => ({ providers: [{ id: "p", kind: "openai", ...changes }] });
    const secret = async () =>
      (await fixture.controlStore.configSnapshot()).providers.get("p")?.secret?.reveal() ?? null;
    await fixture.controlStore.apply(provider({ api_key: "first" }), "test");
    await fixture.controlStore.apply(provider({ enabled: false }), "test");
    expect(await secret()).toBe("first");
    await fixture.controlStore.apply(provider({ base_url: "https://elsewhere.example/v1" }), "test");
    expect(await secret()).toBeNull();
    await fixture.controlStore.apply(provider({ base_url: "https://elsewhere.example/v1", api_key: "second" }), "test");
    expect(await secret()).toBe("second");
  });
}

function conflictTests(make: StoreFixtureFactory): void {
  const conflictOf = async (fixture: StoreFixture, config: ConfigFile): Promise<ConfigConflict> => {
    const thrown = await fixture.controlStore.apply(config, "test").catch((error: unknown) => error);
    if (!(thrown instanceof ConfigConflict)) throw new Error(`no conflict: ${String(thrown)}`);
    return thrown;
  };

  test("lists every conflict of a file and changes nothing", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    const before = await wholeText(fixture.database);
    const conflict = await conflictOf(fixture, {
      providers: [
        { id: "a", kind: "unknown-kind" },
        { id: "b", kind: "openai-compatible" },
      ],
      models: [{ name: "m", deployments: [{ provider: "c" }], fallbacks: ["n"] }],
    });
    expect(conflict.conflicts.map((each) => each.path)).toEqual([
      ["models", 0, "deployments", 0, "provider"],
      ["models", 0, "fallbacks", 0],
      ["providers", 0, "kind"],
      ["providers", 1, "base_url"],
    ]);
    expect(conflict.conflicts[0]?.path).toEqual(["models", 0, "deployments", 0, "provider"]);
    expect(await wholeText(fixture.database)).toBe(before);
  });

  test("rejects a secret that another key has, naming the place but not the secret", async () => {
    await using fixture = await make();
    await fixture.controlStore.addWorkspace({ slug: "own", name: "Own" }, by("admin"));
    await makeKey(fixture, newKey("mine", { workspace: "own", secret: new Secret(ciSecret) }), "admin");
    const before = await wholeText(fixture.database);
    const conflict = await conflictOf(fixture, acmeConfig);
    expect(conflict.conflicts[0]?.path).toEqual(["workspaces", 0, "keys", 0, "secret"]);
    expect(conflict.message).not.toContain(ciSecret);
    expect(await wholeText(fixture.database)).toBe(before);
  });
}

function consoleTests(make: StoreFixtureFactory): void {
  test("creates a default group in a workspace of the console, and validates the slug", async () => {
    await using fixture = await make();
    const created = await fixture.controlStore.addWorkspace({ slug: "own", name: "Own" }, by("admin"));
    expect(await allWorkspaces(fixture)).toEqual([created]);
    await expect(fixture.controlStore.addWorkspace({ slug: "own", name: "Twin" }, by("admin"))).rejects.toMatchObject({
      param: "slug",
    });
    await expect(fixture.controlStore.addWorkspace({ slug: "No Slug", name: "x" }, by("admin"))).rejects.toMatchObject({
      param: "slug",
    });
  });
}
