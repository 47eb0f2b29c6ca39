import { describe, expect, test } from "bun:test";
import type { ConsoleKey } from "@sluice/contract";
import { makeKey, newKey, wholeText } from "../conformance/store-fixture.ts";
import { isMadeKey } from "../made-key.ts";
import { openTenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };
const day = 86_400_000;

describe("a new key", () => {
  test("works at once with all its settings; its secret is shown once and stored nowhere", async () => {
    await using fixture = await openTenantFixture();
    const fields = {
      name: "ci",
      models: ["gpt-*"],
      allowed_ips: ["203.0.113.0/24", "2001:db8::/32"],
      expires_at: fixture.clock.now() + day,
      limits: { rpm: 60, fail: "open" },
      budget: { usd: 1.25, period: "day" },
      tags: { team: "build" },
    };
    const made = await fixture.makeKey("member", fields);
    expect(made.status).toBe(201);
    const { key, secret } = made.body;
    expect(isMadeKey(secret)).toBe(true);
    expect(key).toMatchObject({
      ...fields,
      workspace: { id: fixture.acme.id, slug: "acme" },
      group: { name: "default" },
      prefix: secret.slice(0, 14),
      last_four: secret.slice(-4),
      state: "active",
      capture: "none",
      enabled: true,
      created_by: { id: fixture.users.member.id, email: "member@example.com", name: "member" },
      last_used_at: null,
      revoked_at: null,
      old_secret_until: null,
      managed_by: "console",
    });
    expect(await fixture.authenticate(secret)).toBe(key.id);
    expect(await fixture.authenticate(secret, "198.51.100.1")).toBe("ip_not_allowed");
    const shown = await fixture.call("viewer", "keys.show", { params: { ...acme, key: key.id } });
    expect(shown.body).toMatchObject(key);
    expect(await wholeText(fixture.database)).not.toContain(secret);
    fixture.clock.jump(day);
    expect(await fixture.authenticate(secret)).toBe("expired_api_key");
    expect((await fixture.call("viewer", "keys.show", { params: { ...acme, key: key.id } })).body.state).toBe(
      "expired",
    );
  });

  test.each([
    [{ name: "  " }, "name"],
    [{ name: "x", allowed_ips: ["10.0.0.0/8", "127.1"] }, "allowed_ips.1"],
    [{ name: "x", allowed_ips: ["10.0.0.0/33"] }, "allowed_ips.0"],
    [{ name: "x", expires_at: 5 }, "expires_at"],
    [{ name: "x", expires_at: 9_007_199_254_740_991 }, "expires_at"],
    [{ name: "x", models: [""] }, "models.0"],
    [{ name: "x", limits: { rpm: 1.5 } }, "limits.rpm"],
    [{ name: "x", budget: { usd: 1, period: "year" } }, "budget.period"],
    [{ name: "x", tags: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`t${n}`, "v"])) }, "tags"],
    [{ name: "x", capture: "everything" }, "capture"],
    [{ name: "x", secret: "a-secret-of-my-own-choosing" }, null],
  ])("from %j is refused with the field's name", async (body, param) => {
    await using fixture = await openTenantFixture();
    expect(await fixture.makeKey("admin", body)).toMatchObject({ status: 400, code: "invalid_request", param });
  });

  test("accepts models that do not exist yet, and any pattern", async () => {
    await using fixture = await openTenantFixture();
    const models = ["not-yet", "*-mini", "vendor/*"];
    expect((await fixture.makeKey("member", { name: "x", models })).body.key.models).toEqual(models);
    expect((await fixture.makeKey("member", { name: "y", models: [] })).body.key.models).toEqual([]);
  });

  test("captures bodies only when an admin asks for it", async () => {
    await using fixture = await openTenantFixture();
    expect(await fixture.makeKey("member", { name: "x", capture: "bodies" })).toMatchObject({
      code: "forbidden",
      param: "capture",
    });
    expect((await fixture.makeKey("admin", { name: "x", capture: "bodies" })).body.key.capture).toBe("bodies");
  });

  test("goes into a chosen group only when an admin chooses", async () => {
    await using fixture = await openTenantFixture();
    await fixture.call("admin", "groups.create", { params: acme, body: { name: "wide", models: ["*"] } });
    const refused = { status: 403, code: "forbidden", param: "group" };
    expect(await fixture.makeKey("member", { name: "x", group: "wide" })).toMatchObject(refused);
    const params = { ...acme, key: (await fixture.makeKey("member", { name: "x" })).body.key.id };
    const move = (who: "member" | "admin") => fixture.call(who, "keys.update", { params, body: { group: "wide" } });
    expect(await move("member")).toMatchObject(refused);
    expect((await move("admin")).body.group.name).toBe("wide");
  });

  test("has a unique name; of two created at once, one succeeds", async () => {
    await using fixture = await openTenantFixture();
    const both = await Promise.all([
      fixture.makeKey("member", { name: "ci" }),
      fixture.makeKey("admin", { name: "ci" }),
    ]);
    expect(both.map((answer) => answer.status).sort()).toEqual([201, 409]);
    expect(both.find((answer) => answer.status === 409)).toMatchObject({ code: "conflict", param: "name" });
    expect((await fixture.makeKey("stranger", { name: "ci" }, "other")).status).toBe(201);
  });

  test("may reuse the name of a revoked key, which stays visible as a separate key", async () => {
    await using fixture = await openTenantFixture();
    const old = (await fixture.makeKey("member", { name: "ci" })).body;
    await fixture.call("member", "keys.revoke", { params: { ...acme, key: old.key.id } });
    const made = (await fixture.makeKey("admin", { name: "ci" })).body;
    expect(made.key.id).not.toBe(old.key.id);
    const show = async (key: string) => (await fixture.call("viewer", "keys.show", { params: { ...acme, key } })).body;
    expect(await show(old.key.id)).toMatchObject({ name: "ci (revoked 2026-01-01)", state: "revoked" });
    expect(await fixture.authenticate(old.secret)).toBe("revoked_api_key");
    await fixture.call("admin", "keys.revoke", { params: { ...acme, key: made.key.id } });
    expect((await fixture.makeKey("admin", { name: "ci" })).status).toBe(201);
    expect((await show(made.key.id)).name).toBe(`ci (revoked 2026-01-01, ${made.key.id})`);
  });

  test("belongs to one workspace, not to all at once", async () => {
    await using fixture = await openTenantFixture();
    expect(await fixture.makeKey("administrator", { name: "x" }, "-")).toMatchObject({
      code: "invalid_request",
      param: "workspace",
    });
    expect((await fixture.makeKey("viewer", { name: "x" })).status).toBe(403);
  });
});

describe("changing a key", () => {
  test("takes effect at once; omitted fields stay, and null removes a restriction", async () => {
    await using fixture = await openTenantFixture();
    const { key, secret } = (await fixture.makeKey("member", { name: "ci", models: ["a"], limits: { rpm: 3 } })).body;
    const params = { ...acme, key: key.id };
    const change = async (body: object) =>
      (await fixture.call("member", "keys.update", { params, body: { ...body } })).body;
    expect(await fixture.authenticate(secret)).toBe(key.id);
    expect(await change({ enabled: false })).toMatchObject({ state: "disabled", models: ["a"], limits: { rpm: 3 } });
    expect(await fixture.authenticate(secret)).toBe("disabled_api_key");
    expect(await change({ enabled: true, models: null, name: "build" })).toMatchObject({
      name: "build",
      state: "active",
      models: null,
      limits: { rpm: 3 },
    });
    expect(await fixture.authenticate(secret)).toBe(key.id);
    await change({ allowed_ips: ["198.51.100.0/24"] });
    expect(await fixture.authenticate(secret)).toBe("ip_not_allowed");
    const last = (await fixture.audit()).at(-1);
    expect(last).toMatchObject({ action: "update", object: "key acme/build", workspace_id: fixture.acme.id });
    expect(JSON.parse(last?.before ?? "").allowed_ips).toBeNull();
    expect(JSON.parse(last?.after ?? "").allowed_ips).toEqual(["198.51.100.0/24"]);
  });

  test("leaves no audit row when nothing changes", async () => {
    await using fixture = await openTenantFixture();
    const { key } = (await fixture.makeKey("member", { name: "ci", tags: { a: "b" } })).body;
    const rows = (await fixture.audit()).length;
    const body = { name: "ci", tags: { a: "b" }, group: "default", budget: null, expires_at: null };
    expect((await fixture.call("admin", "keys.update", { params: { ...acme, key: key.id }, body })).body).toEqual(key);
    expect((await fixture.audit()).length).toBe(rows);
  });

  test("accepts an unchanged expiry in the past but not a new one", async () => {
    await using fixture = await openTenantFixture();
    const expires_at = fixture.clock.now() + day;
    const { key } = (await fixture.makeKey("member", { name: "ci", expires_at })).body;
    fixture.clock.jump(2 * day);
    const params = { ...acme, key: key.id };
    expect((await fixture.call("member", "keys.update", { params, body: { name: "x", expires_at } })).status).toBe(200);
    expect(await fixture.call("member", "keys.update", { params, body: { expires_at: expires_at + 1 } })).toMatchObject(
      {
        code: "invalid_request",
        param: "expires_at",
      },
    );
  });

  test("rejects the name of another key and an unknown group", async () => {
    await using fixture = await openTenantFixture();
    await fixture.makeKey("member", { name: "one" });
    const { key } = (await fixture.makeKey("member", { name: "two" })).body;
    const change = (body: object) =>
      fixture.call("admin", "keys.update", { params: { ...acme, key: key.id }, body: { ...body } });
    expect(await change({ name: "one" })).toMatchObject({ status: 409, code: "conflict", param: "name" });
    expect(await change({ group: "nowhere" })).toMatchObject({ status: 404, code: "not_found", param: "group" });
  });
});

describe("key permissions", () => {
  test("a member changes, rotates and revokes only keys they created, an admin all", async () => {
    await using fixture = await openTenantFixture();
    const { key } = (await fixture.makeKey("admin", { name: "of the admin" })).body;
    const mine = (await fixture.makeKey("member", { name: "of the member" })).body.key;
    const tries = async (who: "member" | "admin", id: string) => {
      const params = { ...acme, key: id };
      return [
        (await fixture.call(who, "keys.update", { params, body: { tags: {} } })).status,
        (await fixture.call(who, "keys.rotate", { params, body: {} })).status,
        (await fixture.call(who, "keys.revoke", { params })).status,
      ];
    };
    expect(await tries("member", key.id)).toEqual([403, 403, 403]);
    expect((await fixture.call("viewer", "keys.show", { params: { ...acme, key: key.id } })).body.state).toBe("active");
    expect(await tries("member", mine.id)).toEqual([200, 200, 200]);
    expect(await tries("admin", key.id)).toEqual([200, 200, 200]);
  });

  test("only admins change a key that was not created in the console", async () => {
    await using fixture = await openTenantFixture();
    const made = await makeKey(fixture, newKey("cli"), "command line");
    const params = { ...acme, key: made.id };
    expect((await fixture.call("member", "keys.revoke", { params })).status).toBe(403);
    expect((await fixture.call("admin", "keys.revoke", { params })).body).toMatchObject({
      created_by: null,
      state: "revoked",
    });
  });

  test("returns 404 for keys of another workspace, also to an administrator when the path names another", async () => {
    await using fixture = await openTenantFixture();
    const { key, secret } = (await fixture.makeKey("stranger", { name: "ci" }, "other")).body;
    const params = { ...acme, key: key.id };
    for (const who of ["owner", "administrator"] as const) {
      for (const answer of [
        await fixture.call(who, "keys.show", { params }),
        await fixture.call(who, "keys.update", { params, body: { enabled: false } }),
        await fixture.call(who, "keys.rotate", { params, body: {} }),
        await fixture.call(who, "keys.revoke", { params }),
      ]) {
        expect(answer).toMatchObject({ status: 404, code: "not_found", param: "key" });
      }
    }
    expect((await fixture.call("stranger", "keys.show", { params })).code).toBe("not_found");
    expect(await fixture.authenticate(secret)).toBe(key.id);
    const everywhere = { params: { workspace: "-", key: key.id } };
    expect((await fixture.call("administrator", "keys.show", everywhere)).body.name).toBe("ci");
    expect((await fixture.call("administrator", "keys.revoke", everywhere)).body.state).toBe("revoked");
    expect(await fixture.authenticate(secret)).toBe("revoked_api_key");
  });
});

describe("a personal key", () => {
  test("attributes calls to its owner; a member can only name themselves, and only on creation", async () => {
    await using fixture = await openTenantFixture();
    const { member, admin } = fixture.users;
    const { key, secret } = (await fixture.makeKey("member", { name: "mine", owner: member.id })).body;
    expect(key.owner).toEqual({ id: member.id, email: "member@example.com", name: "member" });
    expect(await fixture.personOf(secret)).toBe(member.id);
    const shared = (await fixture.makeKey("member", { name: "shared" })).body;
    expect(shared.key.owner).toBeNull();
    expect(await fixture.personOf(shared.secret)).toBeNull();
    const refused = { status: 403, code: "forbidden", param: "owner" };
    expect(await fixture.makeKey("member", { name: "theirs", owner: admin.id })).toMatchObject(refused);
    for (const [id, owner] of [
      [key.id, null],
      [shared.key.id, member.id],
    ]) {
      const change = { params: { ...acme, key: id }, body: { owner } };
      expect(await fixture.call("member", "keys.update", change)).toMatchObject(refused);
    }
    const same = { params: { ...acme, key: key.id }, body: { owner: member.id, name: "still mine" } };
    expect((await fixture.call("member", "keys.update", same)).status).toBe(200);
  });

  test("can be given to another user or to none by an admin, which takes effect at once", async () => {
    await using fixture = await openTenantFixture();
    const { member, admin, viewer, stranger } = fixture.users;
    const { key, secret } = (await fixture.makeKey("member", { name: "ci" })).body;
    const change = (owner: string | null) =>
      fixture.call("admin", "keys.update", { params: { ...acme, key: key.id }, body: { owner } });
    for (const owner of [member.id, admin.id, null]) {
      expect((await change(owner)).body.owner?.id ?? null).toBe(owner);
      expect(await fixture.personOf(secret)).toBe(owner);
    }
    for (const owner of [viewer.id, stranger.id, "usr_none"]) {
      expect(await change(owner)).toMatchObject({ status: 400, code: "invalid_request", param: "owner" });
    }
    const rows = (await fixture.audit()).filter(({ object }) => object === "key acme/ci");
    expect(rows.map(({ after }) => JSON.parse(after ?? "").owner)).toEqual([null, member.id, admin.id, null]);
  });

  test("is what a member with limits creates; the limits apply to its calls at once", async () => {
    await using fixture = await openTenantFixture();
    const { member } = fixture.users;
    const made = (await fixture.makeKey("member", { name: "mine", owner: member.id })).body;
    expect(await fixture.limitsOf(made.secret)).toEqual(["workspace acme", "group acme/default", "key acme/mine"]);
    const limit = (body: object) =>
      fixture.call("admin", "members.update", { params: { ...acme, user: member.id }, body });
    await limit({ budget: { usd: 1, period: "day" } });
    const withPerson = ["workspace acme", "group acme/default", "person acme/member@example.com"];
    expect(await fixture.limitsOf(made.secret)).toEqual([...withPerson, "key acme/mine"]);
    expect(await fixture.makeKey("member", { name: "free", owner: null })).toMatchObject({
      status: 403,
      param: "owner",
    });
    const next = (await fixture.makeKey("member", { name: "next" })).body;
    expect(next.key.owner.id).toBe(member.id);
    expect(await fixture.limitsOf(next.secret)).toEqual([...withPerson, "key acme/next"]);
    expect((await fixture.makeKey("admin", { name: "of all" })).body.key.owner).toBeNull();
    await limit({ budget: null });
    expect(await fixture.limitsOf(next.secret)).toEqual(["workspace acme", "group acme/default", "key acme/next"]);
    expect((await fixture.makeKey("member", { name: "free" })).body.key.owner).toBeNull();
  });
});

describe("several keys", () => {
  test("are changed in one call, each with its own audit entry, and failures are listed", async () => {
    await using fixture = await openTenantFixture();
    const make = async (name: string, tags: object = {}) =>
      (await fixture.makeKey("admin", { name, tags })).body.key.id as string;
    const keys = [await make("one", { team: "a" }), await make("two"), await make("three")];
    const [one = "", two = "", three = ""] = keys;
    await fixture.call("admin", "keys.revoke", { params: { ...acme, key: three } });
    const change = (body: object) =>
      fixture.call("admin", "keys.changeMany", { params: acme, body: { keys: [...keys, "key_missing"], ...body } });
    const tagged = await change({ changes: { enabled: false, add_tags: { cost: "9" } } });
    expect(tagged).toMatchObject({
      status: 200,
      body: {
        changed: [one, two],
        failed: [
          { key: three, code: "conflict" },
          { key: "key_missing", code: "not_found" },
        ],
      },
    });
    const show = async (key: string) =>
      (await fixture.call("admin", "keys.show", { params: { ...acme, key } })).body as ConsoleKey;
    expect(await show(one)).toMatchObject({ state: "disabled", tags: { team: "a", cost: "9" } });
    expect((await change({ revoke: true })).body).toMatchObject({ changed: keys, failed: [{ key: "key_missing" }] });
    expect((await show(two)).state).toBe("revoked");
    const audit = await fixture.database.kysely
      .selectFrom("audit_log")
      .select(["action", "object"])
      .where("object", "in", ["key acme/one", "key acme/two"])
      .where("action", "!=", "create")
      .orderBy("seq")
      .execute();
    expect(audit.map(({ action, object }) => `${action} ${object}`)).toEqual([
      "update key acme/one",
      "update key acme/two",
      "revoke key acme/one",
      "revoke key acme/two",
    ]);
    expect(await change({})).toMatchObject({ status: 400 });
    expect(await change({ keys: Array.from({ length: 201 }, () => one), revoke: true })).toMatchObject({ status: 400 });
  });

  test("get limits and a budget, and lose tags, in one call", async () => {
    await using fixture = await openTenantFixture();
    const make = async (name: string, fields: object) =>
      (await fixture.makeKey("admin", { name, ...fields })).body.key.id as string;
    const keys = [
      await make("one", { limits: { tpm: 9, fail: "open" }, tags: { team: "a", cost: "9" } }),
      await make("two", { budget: { usd: 1, period: "day" } }),
    ];
    const change = (body: object) =>
      fixture.call("admin", "keys.changeMany", { params: acme, body: { keys, changes: body } });
    const budget = { usd: 20, period: "month" };
    await change({ limits: { rpm: 60 }, budget, remove_tags: ["team"], add_tags: { env: "ci" } });
    const show = async (key = "") => (await fixture.call("admin", "keys.show", { params: { ...acme, key } })).body;
    expect(await show(keys[0])).toMatchObject({ limits: { rpm: 60, fail: "open" }, budget });
    expect((await show(keys[0])).tags).toEqual({ cost: "9", env: "ci" });
    expect(await show(keys[1])).toMatchObject({ limits: { rpm: 60 }, budget, tags: { env: "ci" } });
    await change({ budget: null, limits: {} });
    expect(await show(keys[1])).toMatchObject({ limits: {}, budget: null });
    // Each key keeps the fields that a change omits.
    const modes = { fail: "open", enforce: false };
    const params = { ...acme, key: keys[0] ?? "" };
    const body = { limits: { rpm: 1, ...modes }, budget: { ...budget, ...modes } };
    await fixture.call("admin", "keys.update", { params, body });
    await change({ limits: { rpm: 5 }, budget });
    expect(await show(keys[0])).toMatchObject({ limits: { rpm: 5, ...modes }, budget: { ...budget, ...modes } });
    expect((await show(keys[1])).limits).toEqual({ rpm: 5 });
    await change({ limits: { rpm: 5, enforce: true }, budget: { ...budget, enforce: true } });
    expect(await show(keys[0])).toMatchObject({
      limits: { rpm: 5, fail: "open" },
      budget: { ...budget, fail: "open" },
    });
    expect((await show(keys[0])).limits).not.toHaveProperty("enforce");
    expect(await change({ limits: { rpm: -1 } })).toMatchObject({ status: 400 });
  });

  test("are changed by a member only as far as the member could change each of them", async () => {
    await using fixture = await openTenantFixture();
    const own = (await fixture.makeKey("member", { name: "own" })).body.key.id as string;
    const other = (await fixture.makeKey("admin", { name: "other" })).body.key.id as string;
    const change = (body: object) =>
      fixture.call("member", "keys.changeMany", { params: acme, body: { keys: [own, other], ...body } });
    expect((await change({ changes: { enabled: false } })).body).toMatchObject({
      changed: [own],
      failed: [{ key: other, code: "forbidden" }],
    });
    expect(await change({ changes: { group: "default" } })).toMatchObject({ status: 403 });
    expect((await change({ changes: { owner: fixture.users.admin.id } })).body).toMatchObject({
      changed: [],
      failed: [
        { key: own, code: "forbidden" },
        { key: other, code: "forbidden" },
      ],
    });
    const elsewhere = { params: { workspace: "beta" }, body: { keys: [own], revoke: true } };
    expect((await fixture.call("member", "keys.changeMany", elsewhere)).status).toBe(404);
  });
});
