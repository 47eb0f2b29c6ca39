import { describe, expect, test } from "bun:test";
import { consoleRoutes } from "@sluice/contract";
import { z } from "zod";
import { keyBounds } from "#identity/index.ts";
import { openTenantGround, type TenantGround } from "./tenant-ground.ts";

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
    const fields = ["name", "owner", ...forAdmins.map(([name]) => name), ...Object.keys(cases)];
    expect(Object.keys(body.shape).sort()).toEqual(fields.sort());
    expect([...keyBounds, "name", "owner", "pass_through"].sort()).toEqual(fields.sort());
  });

  test.each(Object.keys(cases))(
    "%s: the member may narrow it but not widen it; an admin may do both",
    async (field) => {
      await using ground = await openTenantGround();
      const [set, narrower, wider] = cases[field]?.(ground.clock.now()) ?? [null, null, []];
      for (const who of ["admin", "owner", "administrator"] as const) {
        const key = (await ground.makeKey("member", { name: `by ${who}` })).body.key;
        const change = (by: Parameters<TenantGround["call"]>[0], value: unknown) =>
          ground.call(by, "keys.update", { params: { ...acme, key: key.id }, body: { [field]: value } });
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
    await using ground = await openTenantGround();
    const [set, , wider] = cases[field]?.(ground.clock.now()) ?? [null, null, []];
    const key = (await ground.makeKey("member", { name: "ci" })).body.key;
    const change = (value: unknown) =>
      ground.call("member", "keys.update", { params: { ...acme, key: key.id }, body: { [field]: value } });
    expect((await change(set)).body).toMatchObject({ [field]: set, set_by_admins: [] });
    for (const value of wider) expect((await change(value)).status, JSON.stringify(value)).toBe(200);
  });

  test("stay after a rotation, a new name, and a change of another field", async () => {
    await using ground = await openTenantGround();
    const { key, secret } = (await ground.makeKey("member", { name: "ci" })).body;
    const params = { ...acme, key: key.id };
    await ground.call("admin", "keys.update", { params, body: { enabled: false, limits: { rpm: 1 } } });
    const rotated = (await ground.call("member", "keys.rotate", { params, body: { grace_seconds: 60 } })).body;
    await ground.call("member", "keys.update", { params, body: { name: "other", models: ["a"] } });
    for (const each of [secret, rotated.secret]) expect(await ground.authenticate(each)).toBe("disabled_api_key");
    for (const body of [{ enabled: true }, { limits: {} }, { name: "x", models: null, enabled: true }]) {
      expect((await ground.call("member", "keys.update", { params, body })).status).toBe(403);
    }
    // The whole request was refused; no part of it was applied.
    expect((await ground.call("member", "keys.show", { params })).body).toMatchObject({ name: "other", models: ["a"] });
  });

  test("a member creates keys for themselves, and only an admin changes the owner", async () => {
    await using ground = await openTenantGround();
    const { member, admin } = ground.users;
    const refused = { status: 403, code: "forbidden", param: "owner" };
    const make = (by: "admin" | "member", owner: string) => ground.makeKey(by, { name: "laptop", owner });
    expect(await make("member", admin.id)).toMatchObject(refused);
    const { key } = (await make("member", member.id)).body;
    expect(key.owner?.id).toBe(member.id);
    const change = (by: "admin" | "member", owner: string | null) =>
      ground.call(by, "keys.update", { params: { ...acme, key: key.id }, body: { owner } });
    expect((await change("member", member.id)).status).toBe(200);
    for (const owner of [null, admin.id]) expect(await change("member", owner)).toMatchObject(refused);
    expect((await change("admin", null)).body.owner).toBeNull();
    expect(await change("member", member.id)).toMatchObject(refused);
    expect((await change("admin", admin.id)).body.owner?.id).toBe(admin.id);
  });

  test("hold against a change sent at the same moment", async () => {
    await using ground = await openTenantGround();
    const key = (await ground.makeKey("member", { name: "ci" })).body.key;
    const params = { ...acme, key: key.id };
    const turn = (who: "admin" | "member", enabled: boolean) =>
      ground.call(who, "keys.update", { params, body: { enabled } });
    for (let round = 0; round < 20; round++) {
      await Promise.all([turn("member", true), turn("admin", false), turn("member", true)]);
      expect((await ground.call("viewer", "keys.show", { params })).body.enabled).toBe(false);
      await turn("admin", true);
    }
  });

  test("are only narrowed by an admin who is now a plain member", async () => {
    await using ground = await openTenantGround();
    const key = (await ground.makeKey("admin", { name: "ci", limits: { rpm: 5 } })).body.key;
    expect(key.set_by_admins).toEqual(["limits"]);
    const auditSource = { actor: "test", ip: null };
    await ground.people.setMember(ground.acme.id, ground.users.admin.id, "member", auditSource);
    const change = (body: object) =>
      ground.call("admin", "keys.update", { params: { ...acme, key: key.id }, body: { ...body } });
    expect(await change({ limits: { rpm: 6 } })).toMatchObject({ status: 403, param: "limits" });
    expect((await change({ limits: { rpm: 4 } })).status).toBe(200);
  });

  test("include limits from before their author was stored", async () => {
    await using ground = await openTenantGround();
    const key = (await ground.makeKey("member", { name: "ci", limits: { rpm: 5 } })).body.key;
    const everything = keyBounds.join(",");
    await ground.database.kysely.updateTable("api_keys").set({ set_by_admins: everything }).execute();
    const change = (body: object) =>
      ground.call("member", "keys.update", { params: { ...acme, key: key.id }, body: { ...body } });
    expect((await change({ limits: {} })).status).toBe(403);
    // Limits that were not set yet are the member's own.
    expect((await change({ budget: { usd: 1, period: "day" } })).status).toBe(200);
    expect((await change({ budget: null })).status).toBe(200);
  });
});
