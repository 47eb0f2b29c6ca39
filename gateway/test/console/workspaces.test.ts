import { describe, expect, test } from "bun:test";
import { keysIn } from "../conformance/store-fixture.ts";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { params: { workspace: "acme" } };

describe("workspaces", () => {
  test("users see their workspaces with their own role; an administrator sees all, as an owner", async () => {
    await using fixture = await openTenantFixture();
    const seen = async (who: Parameters<TenantFixture["call"]>[0]) =>
      (await fixture.call(who, "workspaces.list")).body.data.map((each: { slug: string; role: string }) => [
        each.slug,
        each.role,
      ]);
    expect(await seen("viewer")).toEqual([["acme", "viewer"]]);
    expect(await seen("stranger")).toEqual([["other", "owner"]]);
    expect(await seen("newcomer")).toEqual([]);
    expect(await seen("administrator")).toEqual([
      ["acme", "owner"],
      ["other", "owner"],
    ]);
  });

  test("a list has counts for each, pages by slug, and finds part of a slug or name", async () => {
    await using fixture = await openTenantFixture();
    for (const slug of ["beta", "gamma"]) {
      await fixture.call("administrator", "workspaces.create", { body: { slug, name: `100% ${slug}` } });
    }
    await fixture.makeKey("member", { name: "one" });
    const revoked = await fixture.makeKey("member", { name: "two" });
    await fixture.call("member", "keys.revoke", { params: { workspace: "acme", key: revoked.body.key.id } });
    const first = await fixture.call("administrator", "workspaces.list", { query: { limit: 2 } });
    expect(first.body.data.map((each: { slug: string }) => each.slug)).toEqual(["beta", "gamma"]);
    expect(first.body.total).toBe(4);
    const second = await fixture.call("administrator", "workspaces.list", { query: { cursor: first.body.next } });
    expect(second.body.data.map((each: { slug: string }) => each.slug)).toEqual(["acme", "other"]);
    expect(second.body.data[0]).toMatchObject({ groups: 1, keys: 1, members: 4, managed_by: "console", models: ["*"] });
    const byKeys = await fixture.call("administrator", "workspaces.list", { query: { sort: "-keys" } });
    expect(byKeys.body.data[0].slug).toBe("acme");
    expect(second.body.next).toBeNull();
    const search = async (text: string) =>
      (await fixture.call("administrator", "workspaces.list", { query: { search: text } })).body.data.length;
    expect(await Promise.all(["BETA", "100%", "%", "_", "nothing"].map(search))).toEqual([1, 2, 2, 0, 0]);
    expect(await fixture.call("administrator", "workspaces.list", { query: { cursor: "x" } })).toMatchObject({
      code: "invalid_request",
      param: "cursor",
    });
  });

  test("a new one has its first group, works at once, and leaves its own audit rows", async () => {
    await using fixture = await openTenantFixture();
    const before = (await fixture.audit()).length;
    const made = await fixture.call("administrator", "workspaces.create", {
      body: { slug: "lab", models: ["gpt-*"], limits: { rpm: 5 }, budget: { usd: 2.5, period: "week" } },
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      slug: "lab",
      name: "lab",
      enabled: true,
      models: ["gpt-*"],
      limits: { rpm: 5 },
      budget: { usd: 2.5, period: "week" },
      role: "owner",
      groups: 1,
      keys: 0,
      members: 0,
    });
    expect(fixture.configSnapshot().workspaces.get(made.body.id)?.scope.budget).toEqual({
      nanoUsd: 2_500_000_000,
      period: "week",
    });
    const rows = (await fixture.audit()).slice(before);
    expect(rows.map((row) => [row.actor, row.ip, row.action, row.object, row.workspace_id])).toEqual([
      ["administrator@example.com", "192.0.2.1", "create", "workspace lab", made.body.id],
      ["administrator@example.com", "192.0.2.1", "create", "group lab/default", made.body.id],
    ]);
  });

  test.each([
    [{ slug: "acme" }, 409, "conflict", "slug"],
    [{ slug: "No Slug" }, 400, "invalid_request", "slug"],
    [{ slug: "-" }, 400, "invalid_request", "slug"],
    [{ slug: "x", budget: { usd: -1, period: "day" } }, 400, "invalid_request", "budget.usd"],
    [{ slug: "x", limits: { rpm: 0 } }, 400, "invalid_request", "limits.rpm"],
    [{ slug: "x", surprise: 1 }, 400, "invalid_request", null],
  ])("a new one from %j is refused with %p %s", async (body, status, code, param) => {
    await using fixture = await openTenantFixture();
    expect(await fixture.call("administrator", "workspaces.create", { body })).toMatchObject({ status, code, param });
    expect(fixture.configSnapshot().workspaces.size).toBe(2);
  });

  test("creates one when two with the same slug are created at once", async () => {
    await using fixture = await openTenantFixture();
    const both = await Promise.all(
      ["one", "two"].map((name) => fixture.call("administrator", "workspaces.create", { body: { slug: "lab", name } })),
    );
    expect(both.map((answer) => answer.status).sort()).toEqual([201, 409]);
  });

  test("an owner changes the name; only an administrator changes its limits", async () => {
    await using fixture = await openTenantFixture();
    const renamed = await fixture.call("owner", "workspaces.update", { ...acme, body: { name: "Acme Inc" } });
    expect(renamed.body).toMatchObject({ name: "Acme Inc", role: "owner", models: ["*"], limits: {}, budget: null });
    for (const body of [{ models: ["*"] }, { limits: {} }, { budget: null }, { enabled: false }]) {
      expect(await fixture.call("owner", "workspaces.update", { ...acme, body })).toMatchObject({
        status: 403,
        code: "forbidden",
        param: Object.keys(body)[0] ?? "",
      });
    }
    expect((await fixture.call("admin", "workspaces.update", { ...acme, body: { name: "x" } })).status).toBe(403);
    const bounded = await fixture.call("administrator", "workspaces.update", {
      ...acme,
      body: { enabled: false, limits: { rpm: 1 } },
    });
    expect(bounded.body).toMatchObject({ name: "Acme Inc", enabled: false, limits: { rpm: 1 } });
    const last = (await fixture.audit()).at(-1);
    expect(last).toMatchObject({ action: "update", object: "workspace acme", workspace_id: fixture.acme.id });
    expect(JSON.parse(last?.before ?? "")).toMatchObject({ enabled: 1, limits: {} });
    expect(JSON.parse(last?.after ?? "")).toMatchObject({ enabled: 0, limits: { rpm: 1 } });
  });

  test("leaves no audit row when nothing changes", async () => {
    await using fixture = await openTenantFixture();
    const [rows, version] = [(await fixture.audit()).length, fixture.configSnapshot().version];
    await fixture.call("owner", "workspaces.update", { ...acme, body: { name: "Acme" } });
    expect([(await fixture.audit()).length, fixture.configSnapshot().version]).toEqual([rows, version]);
  });

  test("refuses keys of a disabled workspace at once", async () => {
    await using fixture = await openTenantFixture();
    const { secret } = (await fixture.makeKey("member", { name: "ci" })).body;
    expect(await fixture.authenticate(secret)).toStartWith("key_");
    await fixture.call("administrator", "workspaces.update", { ...acme, body: { enabled: false } });
    expect(await fixture.authenticate(secret)).toBe("forbidden");
  });

  test("refuses all workspaces at once where that makes no sense", async () => {
    await using fixture = await openTenantFixture();
    const every = { params: { workspace: "-" } };
    for (const id of ["workspaces.show", "workspaces.update", "workspaces.remove", "groups.list"] as const) {
      expect(await fixture.call("administrator", id, every)).toMatchObject({
        code: "invalid_request",
        param: "workspace",
      });
    }
  });
});

describe("removing a workspace", () => {
  const other = { params: { workspace: "other" } };
  const remove = (fixture: TenantFixture) => fixture.call("administrator", "workspaces.remove", other);

  test("removes its groups, revoked keys, members and other personal data", async () => {
    await using fixture = await openTenantFixture();
    const key = await fixture.makeKey("stranger", { name: "ci" }, "other");
    const { id, secret } = { ...key.body.key, secret: key.body.secret };
    expect(await fixture.authenticate(secret)).toBe(id);
    expect(await remove(fixture)).toMatchObject({ status: 409, code: "conflict" });
    await fixture.call("stranger", "keys.revoke", { params: { workspace: "other", key: id } });
    await fixture.database.kysely
      .insertInto("alert_channels")
      .values({
        ...{ id: "chan_1", workspace_id: fixture.other.id, name: "n", kind: "email", sealed_target: "" },
        ...{ language: "en", enabled: 1, created_at: 0 },
      })
      .execute();
    expect((await remove(fixture)).status).toBe(200);
    for (const table of ["groups", "api_keys", "members", "invitations", "admin_tokens", "alert_channels"] as const) {
      const left = await fixture.database.kysely
        .selectFrom(table)
        .selectAll()
        .where("workspace_id", "=", fixture.other.id)
        .execute();
      expect([table, left.length]).toEqual([table, 0]);
    }
    expect(await fixture.authenticate(secret)).toBe("invalid_api_key");
    expect((await fixture.call("stranger", "workspaces.list")).body.data).toEqual([]);
    const last = (await fixture.audit()).at(-1);
    expect(last).toMatchObject({
      action: "remove",
      object: "workspace other",
      workspace_id: fixture.other.id,
      after: null,
    });
    expect(JSON.parse(last?.before ?? "")).toMatchObject({
      slug: "other",
      revoked_keys: 1,
      members: [{ user_id: fixture.users.stranger.id, role: "owner" }],
    });
    // A new workspace with the same slug is a different one.
    const again = await fixture.call("administrator", "workspaces.create", { body: { slug: "other" } });
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(fixture.other.id);
  });

  test("is refused while a task is open or an asset group exists", async () => {
    await using fixture = await openTenantFixture();
    const values = {
      workspace_id: fixture.other.id,
      platform: "local",
      name: "faces",
      description: "",
      project_name: "",
    } as const;
    await fixture.database.kysely
      .insertInto("asset_groups")
      .values({ id: "ag_1", ...values, provider_id: null, upstream_id: null, created_at: 0, updated_at: 0 })
      .execute();
    const refusal = await remove(fixture);
    expect(refusal).toMatchObject({ status: 409, code: "conflict" });
    expect(refusal.body.error.message).toContain("faces");
    await fixture.database.kysely.deleteFrom("asset_groups").execute();
    await openTask(fixture);
    expect((await remove(fixture)).body.error.message).toContain("vt_1");
    await fixture.database.kysely.updateTable("tasks").set({ final: 1 }).execute();
    expect((await remove(fixture)).status).toBe(200);
    expect((await fixture.database.kysely.selectFrom("tasks").select("id").execute()).length).toBe(1);
  });

  test("requires an administrator with a fresh sign-in", async () => {
    await using fixture = await openTenantFixture();
    expect((await fixture.call("stranger", "workspaces.remove", other)).code).toBe("forbidden");
    expect((await fixture.call({ stale: "administrator" }, "workspaces.remove", other)).code).toBe("confirm_sign_in");
  });
});

test("the console cannot change what the config file manages", async () => {
  await using fixture = await openTenantFixture();
  const groups = [{ name: "default" }, { name: "batch" }];
  const keys = [{ name: "ci", secret: "a-secret-of-the-ci-key-that-nobody-knows" }];
  await fixture.controlStore.apply({ workspaces: [{ slug: "filed", groups, keys }] }, "file");
  await fixture.refresh();
  const filed = { params: { workspace: "filed" } };
  const key = (await keysIn(fixture, "filed"))[0];
  const ofKey = { params: { workspace: "filed", key: key?.id ?? "" } };
  const ofGroup = { params: { workspace: "filed", group: "batch" } };
  const refusals = [
    await fixture.call("administrator", "workspaces.update", { ...filed, body: { name: "x" } }),
    await fixture.call("administrator", "workspaces.remove", filed),
    await fixture.call("administrator", "groups.update", { ...ofGroup, body: { models: [] } }),
    await fixture.call("administrator", "groups.remove", ofGroup),
    await fixture.call("administrator", "keys.update", { ...ofKey, body: { enabled: false } }),
    await fixture.call("administrator", "keys.rotate", { ...ofKey, body: {} }),
    await fixture.call("administrator", "keys.revoke", ofKey),
  ];
  expect(refusals.map((answer) => [answer.status, answer.code])).toEqual(
    refusals.map(() => [409, "managed_by_file"] as const),
  );
  // Keys added to it in the console belong to the console.
  expect((await fixture.makeKey("administrator", { name: "mine" }, "filed")).body.key.managed_by).toBe("console");
  expect(await fixture.makeKey("administrator", { name: "ci" }, "filed")).toMatchObject({
    code: "conflict",
    param: "name",
  });
});

async function openTask({ database, other }: TenantFixture): Promise<void> {
  const words = { group_id: "", key_id: "", request_id: "", model: "", deployment: "", upstream_model: "" };
  const state = "queued" as const;
  const texts = { attempt_id: "", state, params: "{}", request_digest: "", metadata: "{}", user_agent: "" };
  const nothing = { provider_id: null, sealed_account: null, upstream_id: null, progress: null, output: null };
  const none = { blob_hash: null, error: null, usage: null, raw_usage: null, cost_nano_usd: null, price_version: null };
  const never = { price_table: null, idempotency_key: null, callback_url: null, submitted_at: null, started_at: null };
  const times = { created_at: 0, updated_at: 0, deadline_at: 0, finished_at: null, due_at: null };
  const lease = { polls: 0, lease: null, leased_until: null, final: 0, reserved_nano_usd: 0, tags: "{}" };
  await database.kysely
    .insertInto("tasks")
    .values({
      id: "vt_1",
      kind: "video",
      workspace_id: other.id,
      ...words,
      ...texts,
      ...nothing,
      ...none,
      ...never,
      ...times,
      ...lease,
    })
    .execute();
}
