import { describe, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { createReportStore } from "#storage/index.ts";
import { silentObserver } from "../conformance/store-ground.ts";
import { openTenantGround, type TenantGround } from "./tenant-ground.ts";

const acme = { workspace: "acme" };
const modelsMax = bounds.accessModelsMax;

/**
 * Models m000, m001 and so on plus one that acme may not call; group `default` allows all of them, `even` every second
 * one.
 */
async function withModels(count: number): Promise<TenantGround> {
  const ground = await openTenantGround(({ databasePath, clock }) =>
    createReportStore({ databasePath, clock, observer: silentObserver }),
  );
  const names = Array.from({ length: count }, (_, n) => `m${String(n).padStart(3, "0")}`);
  await ground.controlStore.apply(
    {
      providers: [{ id: "main", kind: "openai", api_key: "sk-upstream" }],
      models: [...names, "secret-model"].map((name) => ({ name, deployments: [{ provider: "main" }] })),
      settings: { unpriced: "allow" },
    },
    "file",
  );
  await ground.call("administrator", "workspaces.update", { params: acme, body: { models: ["m*"] } });
  const even = names.filter((_, n) => n % 2 === 0);
  await ground.call("admin", "groups.create", { params: acme, body: { name: "even", models: even } });
  return ground;
}

const table = async (
  ground: TenantGround,
  query: Readonly<Record<string, unknown>> = {},
  who: "viewer" | "administrator" = "viewer",
) => (await ground.call(who, "access.table", { params: acme, query: { ...query } })).body;

describe("access table", () => {
  test("shows for every key and model whether a call would be allowed", async () => {
    await using ground = await withModels(3);
    await ground.makeKey("member", { name: "all" });
    await ground.makeKey("admin", { name: "even", group: "even", models: ["m000", "m001"] });
    const off = (await ground.makeKey("member", { name: "off" })).body.key.id;
    await ground.call("member", "keys.update", { params: { ...acme, key: off }, body: { enabled: false } });
    const { models, keys, next, next_models } = await table(ground);
    expect(models.map((model: { name: string }) => model.name)).toEqual(["m000", "m001", "m002"]);
    const cells = Object.fromEntries(keys.map((key: { name: string; cells: string[] }) => [key.name, key.cells]));
    expect(cells).toEqual({
      all: ["yes", "yes", "yes"],
      even: ["yes", "group_models", "key_models"],
      off: ["key_disabled", "key_disabled", "key_disabled"],
    });
    expect([next, next_models]).toEqual([null, null]);
    for (const key of keys) {
      for (const [index, model] of models.entries()) {
        const params = { ...acme, key: key.id };
        const one = await ground.call("viewer", "access.check", { params, query: { model: model.name } });
        expect(one.body.reason).toBe(key.cells[index]);
      }
    }
  });

  test("shows models beyond the workspace's list to administrators only", async () => {
    await using ground = await withModels(1);
    await ground.makeKey("member", { name: "ci" });
    expect((await table(ground)).models.length).toBe(1);
    const all = await table(ground, {}, "administrator");
    expect(all.models.map((model: { name: string }) => model.name)).toEqual(["m000", "secret-model"]);
    expect(all.keys[0].cells).toEqual(["yes", "workspace_models"]);
  });

  test("limits keys and models per page, and returns the rest on later pages", async () => {
    await using ground = await withModels(modelsMax + 20);
    for (let n = 0; n < 5; n++) await ground.makeKey("member", { name: `k${n}` });
    const seen = { keys: new Set<string>(), models: new Set<string>() };
    let pages = 0;
    for (let cursor: string | null = ""; cursor !== null; ) {
      for (let place: string | null = ""; place !== null; ) {
        const page = await table(ground, {
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
    expect((await table(ground, { limit: 200 })).keys.length).toBeLessThanOrEqual(bounds.accessKeysMax);
    const wrong = await ground.call("viewer", "access.table", { params: acme, query: { models_cursor: "x" } });
    expect(wrong).toMatchObject({ status: 400, code: "invalid_request", param: "models_cursor" });
  });

  test("finds keys and models by part of their names", async () => {
    await using ground = await withModels(12);
    for (const name of ["build", "deploy"]) await ground.makeKey("member", { name });
    const found = await table(ground, { search: "BUI", model: "01" });
    expect(found.keys.map((key: { name: string }) => key.name)).toEqual(["build"]);
    expect(found.models.map((model: { name: string }) => model.name)).toEqual(["m001", "m010", "m011"]);
  });

  test("returns one key when it is given, and none when it belongs to another workspace", async () => {
    await using ground = await withModels(2);
    const ours = (await ground.makeKey("member", { name: "ours" })).body.key.id;
    await ground.makeKey("member", { name: "ours too" });
    const theirs = (await ground.makeKey("stranger", { name: "theirs" }, "other")).body.key.id;
    expect((await table(ground, { key: ours })).keys.map((key: { name: string }) => key.name)).toEqual(["ours"]);
    expect((await table(ground, { key: theirs })).keys).toEqual([]);
  });

  test("filters the models that one key may or may not call, across any number of other models", async () => {
    await using ground = await withModels(2 * modelsMax + 1);
    const key = (await ground.makeKey("admin", { name: "even", group: "even" })).body.key.id;
    const namesOf = async (callable: string, place = "") => {
      const more = place === "" ? {} : { models_cursor: place };
      const { models, keys, next_models } = await table(ground, { key, callable, ...more });
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
    expect((await table(ground, { key: "key_none", callable: "true" })).models).toEqual([]);
    const wrong = await ground.call("viewer", "access.table", { params: acme, query: { callable: "true" } });
    expect(wrong).toMatchObject({ status: 400, code: "invalid_request", param: "callable" });
  });

  test("lists the keys of its workspace only; an administrator may list all workspaces at once", async () => {
    await using ground = await withModels(1);
    await ground.makeKey("member", { name: "ours" });
    await ground.makeKey("stranger", { name: "theirs" }, "other");
    expect((await table(ground)).keys.map((key: { name: string }) => key.name)).toEqual(["ours"]);
    const every = await ground.call("administrator", "access.table", { params: { workspace: "-" }, query: {} });
    const cells = Object.fromEntries(
      every.body.keys.map((key: { name: string; cells: string[] }) => [key.name, key.cells]),
    );
    expect(cells).toEqual({ ours: ["yes", "workspace_models"], theirs: ["yes", "yes"] });
  });
});

describe("key list", () => {
  const names = async (
    ground: TenantGround,
    who: "viewer" | "member" | "administrator",
    query: object,
    workspace = "acme",
  ) =>
    (await ground.call(who, "keys.list", { params: { workspace }, query: { ...query } })).body.data
      .map((key: { name: string }) => key.name)
      .sort();

  test("filters the workspace's keys by group, state, creator and search", async () => {
    await using ground = await withModels(1);
    await ground.makeKey("member", { name: "one" });
    const gone = (await ground.makeKey("member", { name: "two" })).body.key.id;
    await ground.makeKey("admin", { name: "three", group: "even" });
    await ground.makeKey("stranger", { name: "theirs" }, "other");
    await ground.call("admin", "keys.revoke", { params: { ...acme, key: gone } });
    expect(await names(ground, "viewer", {})).toEqual(["one", "three", "two"]);
    expect(await names(ground, "viewer", { group: "even" })).toEqual(["three"]);
    expect(await names(ground, "viewer", { group: "nowhere" })).toEqual([]);
    expect(await names(ground, "viewer", { state: "revoked" })).toEqual(["two"]);
    expect(await names(ground, "member", { mine: "true" })).toEqual(["one", "two"]);
    expect(await names(ground, "viewer", { search: "THR" })).toEqual(["three"]);
    expect(await names(ground, "administrator", {}, "-")).toEqual(["one", "theirs", "three", "two"]);
  });

  test("shows each key as it is shown on its own page", async () => {
    await using ground = await withModels(1);
    const limits = { rpm: 5, fail: "open" };
    const fields = { budget: { usd: 0.5, period: "day" }, tags: { a: "b" }, allowed_ips: ["10.0.0.1"], models: ["m*"] };
    const { key } = (await ground.makeKey("member", { name: "one", limits, ...fields })).body;
    const rotation = { params: { ...acme, key: key.id }, body: { grace_seconds: 60 } };
    await ground.call("member", "keys.rotate", rotation);
    const shown = (await ground.call("viewer", "keys.show", { params: { ...acme, key: key.id } })).body;
    expect((await ground.call("viewer", "keys.list", { params: acme, query: {} })).body.data).toEqual([shown]);
    ground.clock.jump(60_000);
    const after = (await ground.call("viewer", "keys.list", { params: acme, query: {} })).body.data[0];
    expect(after.old_secret_until).toBeNull();
  });
});
