import { describe, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { createReportStore } from "#storage/index.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };
const modelsMax = bounds.accessModelsMax;

/**
 * Models m000, m001 and so on plus one that acme may not call; group `default` allows all of them, `even` every second
 * one.
 */
async function withModels(count: number): Promise<TenantFixture> {
  const fixture = await openTenantFixture(({ databasePath, clock }) =>
    createReportStore({ databasePath, clock, observer: silentObserver }),
  );
  const names = Array.from({ length: count }, (_, n) => `m${String(n).padStart(3, "0")}`);
  await fixture.controlStore.apply(
    {
      providers: [{ id: "main", kind: "openai", api_key: "sk-upstream" }],
      models: [...names, "secret-model"].map((name) => ({ name, deployments: [{ provider: "main" }] })),
      settings: { unpriced: "allow" },
    },
    "file",
  );
  await fixture.call("administrator", "workspaces.update", { params: acme, body: { models: ["m*"] } });
  const even = names.filter((_, n) => n % 2 === 0);
  await fixture.call("admin", "groups.create", { params: acme, body: { name: "even", models: even } });
  return fixture;
}

const table = async (
  fixture: TenantFixture,
  query: Readonly<Record<string, unknown>> = {},
  who: "viewer" | "administrator" = "viewer",
) => (await fixture.call(who, "access.table", { params: acme, query: { ...query } })).body;

describe("access table", () => {
  test("shows for every key and model whether a call would be allowed", async () => {
    await using fixture = await withModels(3);
    await fixture.makeKey("member", { name: "all" });
    await fixture.makeKey("admin", { name: "even", group: "even", models: ["m000", "m001"] });
    const off = (await fixture.makeKey("member", { name: "off" })).body.key.id;
    await fixture.call("member", "keys.update", { params: { ...acme, key: off }, body: { enabled: false } });
    const { models, keys, next, next_models } = await table(fixture);
    expect(models.map((model: { name: string }) => model.name)).toEqual(["m000", "m001", "m002"]);
    const cells = Object.fromEntries(keys.map((key: { name: string; cells: string[] }) => [key.name, key.cells]));
    expect(cells).toEqual({
      all: ["yes", "yes", "yes"],
      even: ["yes", "group_models", "key_models"],
      off: ["key_disabled", "key_disabled", "key_disabled"],
    });
    expect([next, next_models]).toEqual([null, null]);
    const counted = await table(fixture);
    expect([counted.keys_total, counted.models_total]).toEqual([keys.length, models.length]);
    for (const key of keys) {
      for (const [index, model] of models.entries()) {
        const params = { ...acme, key: key.id };
        const one = await fixture.call("viewer", "access.check", { params, query: { model: model.name } });
        expect(one.body.reason).toBe(key.cells[index]);
      }
    }
  });

  test("shows models beyond the workspace's list to administrators only", async () => {
    await using fixture = await withModels(1);
    await fixture.makeKey("member", { name: "ci" });
    expect((await table(fixture)).models.length).toBe(1);
    const all = await table(fixture, {}, "administrator");
    expect(all.models.map((model: { name: string }) => model.name)).toEqual(["m000", "secret-model"]);
    expect(all.keys[0].cells).toEqual(["yes", "workspace_models"]);
  });

  test("limits keys and models per page, and returns the rest on later pages", async () => {
    await using fixture = await withModels(modelsMax + 20);
    for (let n = 0; n < 5; n++) await fixture.makeKey("member", { name: `k${n}` });
    const seen = { keys: new Set<string>(), models: new Set<string>() };
    let pages = 0;
    for (let cursor: string | null = ""; cursor !== null; ) {
      for (let place: string | null = ""; place !== null; ) {
        const page = await table(fixture, {
          limit: 2,
          ...(cursor === "" ? {} : { cursor }),
          ...(place === "" ? {} : { models_cursor: place }),
        });
        pages++;
        expect(page.keys.length).toBeLessThanOrEqual(2);
        expect(page.models.length).toBeLessThanOrEqual(modelsMax);
        for (const key of page.keys) seen.keys.add(key.name);
        for (const model of page.models) seen.models.add(model.name);
        place = page.next_models;
        if (place === null) cursor = page.next;
      }
    }
    expect([seen.keys.size, seen.models.size, pages]).toEqual([5, modelsMax + 20, 6]);
    expect((await table(fixture, { limit: 200 })).keys.length).toBeLessThanOrEqual(bounds.accessKeysMax);
    const wrong = await fixture.call("viewer", "access.table", { params: acme, query: { models_cursor: "x" } });
    expect(wrong).toMatchObject({ status: 400, code: "invalid_request", param: "models_cursor" });
  });

  test("finds keys and models by part of their names", async () => {
    await using fixture = await withModels(12);
    for (const name of ["build", "deploy"]) await fixture.makeKey("member", { name });
    const found = await table(fixture, { search: "BUI", model: "01" });
    expect(found.keys.map((key: { name: string }) => key.name)).toEqual(["build"]);
    expect(found.models.map((model: { name: string }) => model.name)).toEqual(["m001", "m010", "m011"]);
  });

  test("returns one key when it is given, and none when it belongs to another workspace", async () => {
    await using fixture = await withModels(2);
    const ours = (await fixture.makeKey("member", { name: "ours" })).body.key.id;
    await fixture.makeKey("member", { name: "ours too" });
    const theirs = (await fixture.makeKey("stranger", { name: "theirs" }, "other")).body.key.id;
    expect((await table(fixture, { key: ours })).keys.map((key: { name: string }) => key.name)).toEqual(["ours"]);
    expect((await table(fixture, { key: theirs })).keys).toEqual([]);
  });

  test("filters the models that one key may or may not call, across any number of other models", async () => {
    await using fixture = await withModels(2 * modelsMax + 1);
    const key = (await fixture.makeKey("admin", { name: "even", group: "even" })).body.key.id;
    const namesOf = async (callable: string, place = "") => {
      const more = place === "" ? {} : { models_cursor: place };
      const { models, keys, next_models } = await table(fixture, { key, callable, ...more });
      const names: string[] = models.map(({ name }: { name: string }) => name);
      return { names, reasons: [...new Set<string>(keys[0].cells)], next: next_models };
    };
    const first = await namesOf("true");
    const last = await namesOf("true", first.next);
    expect([first.names.length, first.reasons, last.names, last.next]).toEqual([
      modelsMax,
      ["yes"],
      [`m${2 * modelsMax}`],
      null,
    ]);
    const others = await namesOf("false");
    expect([others.names.length, others.names[0], others.reasons, others.next]).toEqual([
      modelsMax,
      "m001",
      ["group_models"],
      null,
    ]);
    expect((await table(fixture, { key: "key_none", callable: "true" })).models).toEqual([]);
    const wrong = await fixture.call("viewer", "access.table", { params: acme, query: { callable: "true" } });
    expect(wrong).toMatchObject({ status: 400, code: "invalid_request", param: "callable" });
  });

  test("lists the keys of its workspace only; an administrator may list all workspaces at once", async () => {
    await using fixture = await withModels(1);
    await fixture.makeKey("member", { name: "ours" });
    await fixture.makeKey("stranger", { name: "theirs" }, "other");
    expect((await table(fixture)).keys.map((key: { name: string }) => key.name)).toEqual(["ours"]);
    const every = await fixture.call("administrator", "access.table", { params: { workspace: "-" }, query: {} });
    const cells = Object.fromEntries(
      every.body.keys.map((key: { name: string; cells: string[] }) => [key.name, key.cells]),
    );
    expect(cells).toEqual({ ours: ["yes", "workspace_models"], theirs: ["yes", "yes"] });
  });
});

describe("key list", () => {
  const names = async (
    fixture: TenantFixture,
    who: "viewer" | "member" | "administrator",
    query: object,
    workspace = "acme",
  ) =>
    (await fixture.call(who, "keys.list", { params: { workspace }, query: { ...query } })).body.data
      .map((key: { name: string }) => key.name)
      .sort();

  test("filters the workspace's keys by group, state, creator and search", async () => {
    await using fixture = await withModels(1);
    await fixture.makeKey("member", { name: "one" });
    const gone = (await fixture.makeKey("member", { name: "two" })).body.key.id;
    await fixture.makeKey("admin", { name: "three", group: "even" });
    await fixture.makeKey("stranger", { name: "theirs" }, "other");
    await fixture.call("admin", "keys.revoke", { params: { ...acme, key: gone } });
    expect(await names(fixture, "viewer", {})).toEqual(["one", "three", "two"]);
    expect(await names(fixture, "viewer", { group: "even" })).toEqual(["three"]);
    expect(await names(fixture, "viewer", { group: "nowhere" })).toEqual([]);
    expect(await names(fixture, "viewer", { state: "revoked" })).toEqual(["two"]);
    expect(await names(fixture, "member", { mine: "true" })).toEqual(["one", "two"]);
    expect(await names(fixture, "viewer", { search: "THR" })).toEqual(["three"]);
    expect(await names(fixture, "administrator", {}, "-")).toEqual(["one", "theirs", "three", "two"]);
  });

  test("shows each key as it is shown on its own page", async () => {
    await using fixture = await withModels(1);
    const limits = { rpm: 5, fail: "open" };
    const fields = { budget: { usd: 0.5, period: "day" }, tags: { a: "b" }, allowed_ips: ["10.0.0.1"], models: ["m*"] };
    const { key } = (await fixture.makeKey("member", { name: "one", limits, ...fields })).body;
    const rotation = { params: { ...acme, key: key.id }, body: { grace_seconds: 60 } };
    await fixture.call("member", "keys.rotate", rotation);
    const shown = (await fixture.call("viewer", "keys.show", { params: { ...acme, key: key.id } })).body;
    expect((await fixture.call("viewer", "keys.list", { params: acme, query: {} })).body.data).toEqual([
      { ...shown, spend_usd: 0 },
    ]);
    fixture.clock.jump(60_000);
    const after = (await fixture.call("viewer", "keys.list", { params: acme, query: {} })).body.data[0];
    expect(after.old_secret_until).toBeNull();
  });
});
