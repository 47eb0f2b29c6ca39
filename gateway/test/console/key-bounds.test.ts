import { describe, expect, test } from "bun:test";
import { consoleRoutes } from "@sluice/contract";
import { z } from "zod";
import { keyBounds } from "#identity/index.ts";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };
const day = 86_400_000;

/** For every field that a member may send: a value that an admin sets, a narrower one and a wider one. */
const cases: Readonly<Record<string, (now: number) => readonly [unknown, unknown, readonly unknown[]]>> = {
  enabled: () => [false, false, [true]],
  models: () => [["gpt-*"], ["gpt-4o"], [["gpt-*", "claude"], ["*"], null]],
  allowed_ips: () => [["10.0.0.0/8"], ["10.1.0.0/16"], [["0.0.0.0/0"], null]],
  expires_at: (now) => [now + 2 * day, now + day, [now + 3 * day, null]],
  limits: () => [{ rpm: 10 }, { rpm: 9, tpm: 100 }, [{ rpm: 11 }, { tpm: 100 }, {}, { rpm: 10, fail: "open" }]],
  budget: () => [{ usd: 5, period: "month" }, { usd: 4, period: "month" }, [{ usd: 6, period: "month" }, null]],
  tags: () => [{ team: "build" }, { team: "build", stage: "live" }, [{ team: "other" }, {}]],
};

describe("limits that an admin set on a member's key", () => {
  test("are covered for every field", () => {
    const body = consoleRoutes["keys.update"].body as z.ZodObject;
    const forAdmins = Object.entries(body.shape).filter(
      ([, field]) => z.globalRegistry.get(field as z.ZodType)?.needs !== undefined,
    );
    // The owner is changed by admins only: see below.
    // The last two belong to `models` and `allowed_ips`: see below.
    const others = ["name", "owner", "enforce_models", "enforce_allowed_ips"];
    const fields = [...others, ...forAdmins.map(([name]) => name), ...Object.keys(cases)];
    expect(Object.keys(body.shape).sort()).toEqual(fields.sort());
    expect([...keyBounds, ...others, "pass_through"].sort()).toEqual(fields.sort());
  });

  test.each(Object.keys(cases))(
    "%s: the member may narrow it but not widen it; an admin may do both",
    async (field) => {
      await using fixture = await openTenantFixture();
      const [set, narrower, wider] = cases[field]?.(fixture.clock.now()) ?? [null, null, []];
      for (const who of ["admin", "owner", "administrator"] as const) {
        const key = (await fixture.makeKey("member", { name: `by ${who}` })).body.key;
        const change = (by: Parameters<TenantFixture["call"]>[0], value: unknown) =>
          fixture.call(by, "keys.update", { params: { ...acme, key: key.id }, body: { [field]: value } });
        expect((await change(who, set)).body).toMatchObject({ [field]: set, set_by_admins: [field] });
        for (const value of wider) {
          const refused = { status: 403, code: "forbidden", param: field };
          expect(await change("member", value), JSON.stringify(value)).toMatchObject(refused);
          expect((await change("viewer", value)).status).toBe(403);
        }
        expect((await change("member", narrower)).body[field]).toEqual(narrower);
        // The earlier value is wider now.
        if (field !== "enabled") expect((await change("member", set)).status).toBe(403);
        expect((await change(who, wider[0])).status).toBe(200);
      }
    },
  );

  test.each(Object.keys(cases))("%s: the member may lift a limit that they set themselves", async (field) => {
    await using fixture = await openTenantFixture();
    const [set, , wider] = cases[field]?.(fixture.clock.now()) ?? [null, null, []];
    const key = (await fixture.makeKey("member", { name: "ci" })).body.key;
    const change = (value: unknown) =>
      fixture.call("member", "keys.update", { params: { ...acme, key: key.id }, body: { [field]: value } });
    expect((await change(set)).body).toMatchObject({ [field]: set, set_by_admins: [] });
    for (const value of wider) expect((await change(value)).status, JSON.stringify(value)).toBe(200);
  });

  test.each([
    ["models", "enforce_models", ["gpt-*"]],
    ["allowed_ips", "enforce_allowed_ips", ["10.0.0.0/8"]],
  ] as const)(
    "%s: the member cannot turn off %s, but may enforce a grant in shadow mode",
    async (bound, enforce, set) => {
      await using fixture = await openTenantFixture();
      const key = (await fixture.makeKey("member", { name: "ci" })).body.key;
      const change = (by: "admin" | "member", body: object) =>
        fixture.call(by, "keys.update", { params: { ...acme, key: key.id }, body });
      await change("admin", { [bound]: set });
      const refused = { status: 403, code: "forbidden", param: bound };
      expect(await change("member", { [enforce]: false })).toMatchObject(refused);
      expect(await change("member", { [bound]: set, [enforce]: false })).toMatchObject(refused);
      // An admin tries the grant, and it stays the admin's.
      expect((await change("admin", { [enforce]: false })).body).toMatchObject({
        ...{ [bound]: set, [enforce]: false },
        set_by_admins: [bound],
      });
      expect(await change("member", { [bound]: null })).toMatchObject(refused);
      expect((await change("member", { [enforce]: true })).body).toMatchObject({ [enforce]: true });
      expect(await change("member", { [enforce]: false })).toMatchObject(refused);
    },
  );

  test("a member may create a key with a grant in shadow mode", async () => {
    await using fixture = await openTenantFixture();
    const made = await fixture.makeKey("member", { name: "ci", models: ["gpt-*"], enforce_models: false });
    expect(made.body.key).toMatchObject({ models: ["gpt-*"], enforce_models: false, set_by_admins: [] });
  });

  test("stay after a rotation, a new name, and a change of another field", async () => {
    await using fixture = await openTenantFixture();
    const { key, secret } = (await fixture.makeKey("member", { name: "ci" })).body;
    const params = { ...acme, key: key.id };
    await fixture.call("admin", "keys.update", { params, body: { enabled: false, limits: { rpm: 1 } } });
    const rotated = (await fixture.call("member", "keys.rotate", { params, body: { grace_seconds: 60 } })).body;
    await fixture.call("member", "keys.update", { params, body: { name: "other", models: ["a"] } });
    for (const each of [secret, rotated.secret]) expect(await fixture.authenticate(each)).toBe("disabled_api_key");
    for (const body of [{ enabled: true }, { limits: {} }, { name: "x", models: null, enabled: true }]) {
      expect((await fixture.call("member", "keys.update", { params, body })).status).toBe(403);
    }
    // The whole request was refused; no part of it was applied.
    expect((await fixture.call("member", "keys.show", { params })).body).toMatchObject({
      name: "other",
      models: ["a"],
    });
  });

  test("a member creates keys for themselves, and only an admin changes the owner", async () => {
    await using fixture = await openTenantFixture();
    const { member, admin } = fixture.users;
    const refused = { status: 403, code: "forbidden", param: "owner" };
    const make = (by: "admin" | "member", owner: string) => fixture.makeKey(by, { name: "laptop", owner });
    expect(await make("member", admin.id)).toMatchObject(refused);
    const { key } = (await make("member", member.id)).body;
    expect(key.owner?.id).toBe(member.id);
    const change = (by: "admin" | "member", owner: string | null) =>
      fixture.call(by, "keys.update", { params: { ...acme, key: key.id }, body: { owner } });
    expect((await change("member", member.id)).status).toBe(200);
    for (const owner of [null, admin.id]) expect(await change("member", owner)).toMatchObject(refused);
    expect((await change("admin", null)).body.owner).toBeNull();
    expect(await change("member", member.id)).toMatchObject(refused);
    expect((await change("admin", admin.id)).body.owner?.id).toBe(admin.id);
  });

  test("hold against a change sent at the same moment", async () => {
    await using fixture = await openTenantFixture();
    const key = (await fixture.makeKey("member", { name: "ci" })).body.key;
    const params = { ...acme, key: key.id };
    const turn = (who: "admin" | "member", enabled: boolean) =>
      fixture.call(who, "keys.update", { params, body: { enabled } });
    for (let round = 0; round < 20; round++) {
      await Promise.all([turn("member", true), turn("admin", false), turn("member", true)]);
      expect((await fixture.call("viewer", "keys.show", { params })).body.enabled).toBe(false);
      await turn("admin", true);
    }
  });

  test("are only narrowed by an admin who is now a plain member", async () => {
    await using fixture = await openTenantFixture();
    const key = (await fixture.makeKey("admin", { name: "ci", limits: { rpm: 5 } })).body.key;
    expect(key.set_by_admins).toEqual(["limits"]);
    const auditSource = { actor: "test", ip: null };
    await fixture.people.setMember(fixture.acme.id, fixture.users.admin.id, "member", auditSource);
    const change = (body: object) =>
      fixture.call("admin", "keys.update", { params: { ...acme, key: key.id }, body: { ...body } });
    expect(await change({ limits: { rpm: 6 } })).toMatchObject({ status: 403, param: "limits" });
    expect((await change({ limits: { rpm: 4 } })).status).toBe(200);
  });

  test("include limits from before their author was stored", async () => {
    await using fixture = await openTenantFixture();
    const key = (await fixture.makeKey("member", { name: "ci", limits: { rpm: 5 } })).body.key;
    const everything = keyBounds.join(",");
    await fixture.database.kysely.updateTable("api_keys").set({ set_by_admins: everything }).execute();
    const change = (body: object) =>
      fixture.call("member", "keys.update", { params: { ...acme, key: key.id }, body: { ...body } });
    expect((await change({ limits: {} })).status).toBe(403);
    // Limits that were not set yet are the member's own.
    expect((await change({ budget: { usd: 1, period: "day" } })).status).toBe(200);
    expect((await change({ budget: null })).status).toBe(200);
  });
});
