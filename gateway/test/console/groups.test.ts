import { describe, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };
const create = (fixture: TenantFixture, body: Readonly<Record<string, unknown>>) =>
  fixture.call("admin", "groups.create", { params: acme, body });
const names = async (fixture: TenantFixture) =>
  (await fixture.call("viewer", "groups.list", { params: acme })).body.data.map(
    (group: { name: string }) => group.name,
  );

describe("groups", () => {
  test("can be created by an admin, take effect at once, and are listed by name with their active keys", async () => {
    await using fixture = await openTenantFixture();
    const made = await create(fixture, { name: "batch", models: ["gpt-*"], limits: { concurrency: 2 } });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: "batch",
        models: ["gpt-*"],
        limits: { concurrency: 2 },
        budget: null,
        keys: 0,
        managed_by: "console",
      },
    });
    await fixture.makeKey("admin", { name: "one", group: "batch" });
    const gone = (await fixture.makeKey("admin", { name: "two", group: made.body.id })).body.key;
    await fixture.call("admin", "keys.revoke", { params: { ...acme, key: gone.id } });
    const list = (await fixture.call("viewer", "groups.list", { params: acme })).body;
    expect(list.data.map((group: { name: string; keys: number }) => [group.name, group.keys])).toEqual([
      ["batch", 1],
      ["default", 0],
    ]);
    expect(fixture.configSnapshot().groups.get(made.body.id)?.models).toEqual(["gpt-*"]);
    expect((await fixture.audit()).find((row) => row.object === "group acme/batch")).toMatchObject({
      actor: "admin@example.com",
      action: "create",
      workspace_id: fixture.acme.id,
      before: null,
    });
  });

  test("cannot be created, changed or removed by members", async () => {
    await using fixture = await openTenantFixture();
    const params = { ...acme, group: "default" };
    const tries = [
      await fixture.call("member", "groups.create", { params: acme, body: { name: "x" } }),
      await fixture.call("member", "groups.update", { params, body: { models: ["*"] } }),
      await fixture.call("member", "groups.remove", { params }),
    ];
    expect(tries.map((answer) => answer.status)).toEqual([403, 403, 403]);
  });

  test("have unique names within a workspace", async () => {
    await using fixture = await openTenantFixture();
    expect((await create(fixture, { name: "batch" })).status).toBe(201);
    expect(await create(fixture, { name: "batch" })).toMatchObject({ status: 409, code: "conflict", param: "name" });
    const rename = { params: { ...acme, group: "batch" }, body: { name: "default" } };
    expect(await fixture.call("admin", "groups.update", rename)).toMatchObject({ code: "conflict", param: "name" });
    const elsewhere = { params: { workspace: "other" }, body: { name: "batch" } };
    expect((await fixture.call("stranger", "groups.create", elsewhere)).status).toBe(201);
  });

  test("can be changed by id or name; omitted fields stay", async () => {
    await using fixture = await openTenantFixture();
    const { id } = (await create(fixture, { name: "batch", limits: { rpm: 9 }, budget: { usd: 1, period: "day" } }))
      .body;
    const changed = await fixture.call("admin", "groups.update", {
      params: { ...acme, group: "batch" },
      body: { name: "night", models: ["a"] },
    });
    expect(changed.body).toMatchObject({ id, name: "night", models: ["a"], limits: { rpm: 9 }, budget: { usd: 1 } });
    const freed = await fixture.call("admin", "groups.update", {
      params: { ...acme, group: id },
      body: { budget: null },
    });
    expect(freed.body).toMatchObject({ name: "night", budget: null, limits: { rpm: 9 } });
    expect(fixture.configSnapshot().groups.get(id)?.scope).toMatchObject({ label: "group acme/night", budget: null });
  });

  test("returns 404 for groups of another workspace", async () => {
    await using fixture = await openTenantFixture();
    const elsewhere = [...fixture.configSnapshot().groups.values()].find(
      (group) => group.workspaceId === fixture.other.id,
    );
    const params = { ...acme, group: elsewhere?.id ?? "" };
    for (const answer of [
      await fixture.call("owner", "groups.update", { params, body: { models: [] } }),
      await fixture.call("owner", "groups.remove", { params }),
      await fixture.makeKey("owner", { name: "x", group: params.group }),
    ]) {
      expect(answer).toMatchObject({ status: 404, code: "not_found", param: "group" });
    }
    expect(fixture.configSnapshot().groups.get(params.group)?.models).toEqual(["*"]);
  });

  test("have a maximum number", async () => {
    await using fixture = await openTenantFixture();
    const row = { workspace_id: fixture.acme.id, models: "[]", pass_through: "[]", limits: "{}", budget: null };
    for (let n = 1; n < bounds.workspaceGroupsMax; n++) {
      await fixture.database.kysely
        .insertInto("groups")
        .values({ id: `grp_${n}`, name: `g${n}`, managed_by: "console", created_at: 0, ...row })
        .execute();
    }
    expect(await create(fixture, { name: "one-more" })).toMatchObject({ status: 409, code: "conflict" });
  });
});

describe("removing a group", () => {
  test("is refused while a key in it is active; its revoked keys can still be viewed", async () => {
    await using fixture = await openTenantFixture();
    await create(fixture, { name: "batch" });
    const params = { ...acme, group: "batch" };
    const { key } = (await fixture.makeKey("admin", { name: "one", group: "batch" })).body;
    expect(await fixture.call("admin", "groups.remove", { params })).toMatchObject({ status: 409, code: "conflict" });
    await fixture.call("admin", "keys.revoke", { params: { ...acme, key: key.id } });
    expect((await fixture.call("admin", "groups.remove", { params })).status).toBe(200);
    expect(await names(fixture)).toEqual(["default"]);
    const shown = await fixture.call("viewer", "keys.show", { params: { ...acme, key: key.id } });
    expect(shown.body).toMatchObject({ name: "one", state: "revoked", group: { name: "default" } });
    const last = (await fixture.audit()).at(-1);
    expect(last).toMatchObject({ action: "remove", object: "group acme/batch", workspace_id: fixture.acme.id });
    expect(JSON.parse(last?.before ?? "")).toMatchObject({ idle_keys: 1, idle_keys_moved_to: "default" });
  });

  test("keeps the last group, so that a key always has one", async () => {
    await using fixture = await openTenantFixture();
    const remove = (group: string) => fixture.call("admin", "groups.remove", { params: { ...acme, group } });
    expect(await remove("default")).toMatchObject({ status: 409, code: "conflict" });
    await create(fixture, { name: "batch" });
    expect((await remove("default")).status).toBe(200);
    // A request without a group now learns that it must name one.
    expect(await fixture.makeKey("member", { name: "x" })).toMatchObject({ code: "not_found", param: "group" });
    expect((await fixture.makeKey("admin", { name: "x", group: "batch" })).status).toBe(201);
  });

  test("never leaves a key without a group when one is created in it at the same moment", async () => {
    await using fixture = await openTenantFixture();
    for (let round = 0; round < 5; round++) {
      await create(fixture, { name: "batch" });
      const [key, removal] = await Promise.all([
        fixture.makeKey("admin", { name: `k${round}`, group: "batch" }),
        fixture.call("admin", "groups.remove", { params: { ...acme, group: "batch" } }),
      ]);
      expect([key.status, removal.status].sort()).toEqual(key.status === 201 ? [201, 409] : [200, 404]);
      if (key.status !== 201) continue;
      await fixture.call("admin", "keys.revoke", { params: { ...acme, key: key.body.key.id } });
      await fixture.call("admin", "groups.remove", { params: { ...acme, group: "batch" } });
    }
  });
});
