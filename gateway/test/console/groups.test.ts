import { describe, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { openTenantGround, type TenantGround } from "./tenant-ground.ts";

const acme = { workspace: "acme" };
const create = (ground: TenantGround, body: Readonly<Record<string, unknown>>) =>
  ground.call("admin", "groups.create", { params: acme, body });
const names = async (ground: TenantGround) =>
  (await ground.call("viewer", "groups.list", { params: acme })).body.data.map((group: { name: string }) => group.name);

describe("groups", () => {
  test("can be created by an admin, take effect at once, and are listed by name with their active keys", async () => {
    await using ground = await openTenantGround();
    const made = await create(ground, { name: "batch", models: ["gpt-*"], limits: { concurrency: 2 } });
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
    await ground.makeKey("admin", { name: "one", group: "batch" });
    const gone = (await ground.makeKey("admin", { name: "two", group: made.body.id })).body.key;
    await ground.call("admin", "keys.revoke", { params: { ...acme, key: gone.id } });
    const list = (await ground.call("viewer", "groups.list", { params: acme })).body;
    expect(list.data.map((group: { name: string; keys: number }) => [group.name, group.keys])).toEqual([
      ["batch", 1],
      ["default", 0],
    ]);
    expect(ground.configSnapshot().groups.get(made.body.id)?.models).toEqual(["gpt-*"]);
    expect((await ground.audit()).find((row) => row.object === "group acme/batch")).toMatchObject({
      actor: "admin@example.com",
      action: "create",
      workspace_id: ground.acme.id,
      before: null,
    });
  });

  test("cannot be created, changed or removed by members", async () => {
    await using ground = await openTenantGround();
    const params = { ...acme, group: "default" };
    const tries = [
      await ground.call("member", "groups.create", { params: acme, body: { name: "x" } }),
      await ground.call("member", "groups.update", { params, body: { models: ["*"] } }),
      await ground.call("member", "groups.remove", { params }),
    ];
    expect(tries.map((answer) => answer.status)).toEqual([403, 403, 403]);
  });

  test("have unique names within a workspace", async () => {
    await using ground = await openTenantGround();
    expect((await create(ground, { name: "batch" })).status).toBe(201);
    expect(await create(ground, { name: "batch" })).toMatchObject({ status: 409, code: "conflict", param: "name" });
    const rename = { params: { ...acme, group: "batch" }, body: { name: "default" } };
    expect(await ground.call("admin", "groups.update", rename)).toMatchObject({ code: "conflict", param: "name" });
    const elsewhere = { params: { workspace: "other" }, body: { name: "batch" } };
    expect((await ground.call("stranger", "groups.create", elsewhere)).status).toBe(201);
  });

  test("can be changed by id or name; omitted fields stay", async () => {
    await using ground = await openTenantGround();
    const { id } = (await create(ground, { name: "batch", limits: { rpm: 9 }, budget: { usd: 1, period: "day" } }))
      .body;
    const changed = await ground.call("admin", "groups.update", {
      params: { ...acme, group: "batch" },
      body: { name: "night", models: ["a"] },
    });
    expect(changed.body).toMatchObject({ id, name: "night", models: ["a"], limits: { rpm: 9 }, budget: { usd: 1 } });
    const freed = await ground.call("admin", "groups.update", {
      params: { ...acme, group: id },
      body: { budget: null },
    });
    expect(freed.body).toMatchObject({ name: "night", budget: null, limits: { rpm: 9 } });
    expect(ground.configSnapshot().groups.get(id)?.scope).toMatchObject({ label: "group acme/night", budget: null });
  });

  test("returns 404 for groups of another workspace", async () => {
    await using ground = await openTenantGround();
    const elsewhere = [...ground.configSnapshot().groups.values()].find(
      (group) => group.workspaceId === ground.other.id,
    );
    const params = { ...acme, group: elsewhere?.id ?? "" };
    for (const answer of [
      await ground.call("owner", "groups.update", { params, body: { models: [] } }),
      await ground.call("owner", "groups.remove", { params }),
      await ground.makeKey("owner", { name: "x", group: params.group }),
    ]) {
      expect(answer).toMatchObject({ status: 404, code: "not_found", param: "group" });
    }
    expect(ground.configSnapshot().groups.get(params.group)?.models).toEqual(["*"]);
  });

  test("have a maximum number", async () => {
    await using ground = await openTenantGround();
    const row = { workspace_id: ground.acme.id, models: "[]", pass_through: "[]", limits: "{}", budget: null };
    for (let n = 1; n < bounds.workspaceGroupsMax; n++) {
      await ground.database.kysely
        .insertInto("groups")
        .values({ id: `grp_${n}`, name: `g${n}`, managed_by: "console", created_at: 0, ...row })
        .execute();
    }
    expect(await create(ground, { name: "one-more" })).toMatchObject({ status: 409, code: "conflict" });
  });
});

describe("removing a group", () => {
  test("is refused while a key in it is active; its revoked keys can still be viewed", async () => {
    await using ground = await openTenantGround();
    await create(ground, { name: "batch" });
    const params = { ...acme, group: "batch" };
    const { key } = (await ground.makeKey("admin", { name: "one", group: "batch" })).body;
    expect(await ground.call("admin", "groups.remove", { params })).toMatchObject({ status: 409, code: "conflict" });
    await ground.call("admin", "keys.revoke", { params: { ...acme, key: key.id } });
    expect((await ground.call("admin", "groups.remove", { params })).status).toBe(200);
    expect(await names(ground)).toEqual(["default"]);
    const shown = await ground.call("viewer", "keys.show", { params: { ...acme, key: key.id } });
    expect(shown.body).toMatchObject({ name: "one", state: "revoked", group: { name: "default" } });
    const last = (await ground.audit()).at(-1);
    expect(last).toMatchObject({ action: "remove", object: "group acme/batch", workspace_id: ground.acme.id });
    expect(JSON.parse(last?.before ?? "")).toMatchObject({ idle_keys: 1, idle_keys_moved_to: "default" });
  });

  test("keeps the last group, so that a key always has one", async () => {
    await using ground = await openTenantGround();
    const remove = (group: string) => ground.call("admin", "groups.remove", { params: { ...acme, group } });
    expect(await remove("default")).toMatchObject({ status: 409, code: "conflict" });
    await create(ground, { name: "batch" });
    expect((await remove("default")).status).toBe(200);
    // A request without a group now learns that it must name one.
    expect(await ground.makeKey("member", { name: "x" })).toMatchObject({ code: "not_found", param: "group" });
    expect((await ground.makeKey("admin", { name: "x", group: "batch" })).status).toBe(201);
  });

  test("never leaves a key without a group when one is created in it at the same moment", async () => {
    await using ground = await openTenantGround();
    for (let round = 0; round < 5; round++) {
      await create(ground, { name: "batch" });
      const [key, removal] = await Promise.all([
        ground.makeKey("admin", { name: `k${round}`, group: "batch" }),
        ground.call("admin", "groups.remove", { params: { ...acme, group: "batch" } }),
      ]);
      expect([key.status, removal.status].sort()).toEqual(key.status === 201 ? [201, 409] : [200, 404]);
      if (key.status !== 201) continue;
      await ground.call("admin", "keys.revoke", { params: { ...acme, key: key.body.key.id } });
      await ground.call("admin", "groups.remove", { params: { ...acme, group: "batch" } });
    }
  });
});
