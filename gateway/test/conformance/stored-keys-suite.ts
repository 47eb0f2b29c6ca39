import { describe, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import {
  acmeConfig,
  acmeWith,
  by,
  ciSecret,
  type FixtureKey,
  findKey,
  keysIn,
  makeKey,
  newKey,
  revokeKey,
  type StoreFixture,
  type StoreFixtureFactory,
  texts,
} from "./store-fixture.ts";

/** Guarantees of every implementation of the port `ControlStore` for API keys. */
export function storedKeysSuite(name: string, make: StoreFixtureFactory): void {
  describe(`stored keys: ${name}`, () => {
    fileKeyTests(make);
    consoleKeyTests(make);
  });
}

const rowsOf = async (fixture: StoreFixture, table: "changes" | "audit_log") =>
  (await fixture.database.kysely.selectFrom(table).select("seq").execute()).length;

function fileKeyTests(make: StoreFixtureFactory): void {
  test("finds a key of the file by its digest, with all its settings", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    expect(await findKey(fixture, ciSecret)).toMatchObject({
      name: "ci",
      lastFour: "nows",
      models: null,
      allowedIps: ["10.0.0.0/8"],
      enabled: true,
      expiresAt: null,
      tags: { team: "build" },
      scope: { kind: "key", label: "key acme/ci", limits: { rpm: 60 }, budget: null },
    });
    expect(await findKey(fixture, `${ciSecret}x`)).toBeNull();
  });

  test("disables a key that was removed from the file", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    const report = await fixture.controlStore.apply(acmeWith({ keys: [{ name: "later", group: "batch" }] }), "test");
    expect(texts(report)).toEqual(["suspended key acme/ci"]);
    expect(await findKey(fixture, ciSecret)).toBeNull();
  });

  test("lets keys exchange names and secrets when one file is applied", async () => {
    await using fixture = await make();
    const keys = (a: string, b: string) =>
      acmeWith({
        keys: [
          { name: "a", secret: a },
          { name: "b", secret: b },
        ],
      });
    const [one, two] = ["the-first-secret-of-the-two-keys", "the-second-secret-of-the-two-keys"] as const;
    await fixture.controlStore.apply(keys(one, two), "test");
    await fixture.controlStore.apply(keys(two, one), "test");
    expect((await findKey(fixture, two))?.name).toBe("a");
    await fixture.controlStore.apply(acmeWith({ keys: [{ name: "c", secret: two }] }), "test");
    expect((await findKey(fixture, two))?.name).toBe("c");
    expect(await findKey(fixture, one)).toBeNull();
  });

  test("stores the secret that is created for a declared key without one", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    const declaredKey = newKey("later", { limits: { rpm: 1 } });
    await expect(makeKey(fixture, declaredKey, "test")).rejects.toMatchObject({ code: "conflict", param: "name" });
    const key = await makeKey(fixture, { ...declaredKey, fillsDeclared: true }, "test");
    expect(key).toMatchObject({ group: { name: "batch" }, managed_by: "file", limits: {} });
    expect(await fixture.controlStore.apply(acmeConfig, "test")).toEqual([]);
    expect((await findKey(fixture, declaredKey.secret.reveal()))?.id).toBe(key.id);
    const again = { ...newKey("second", { name: "later" }), fillsDeclared: true };
    await expect(makeKey(fixture, again, "test")).rejects.toMatchObject({ code: "conflict", param: "name" });
  });

  test("lets only the file revoke its keys, keeps a revoked key revoked, and creates a key for a new secret", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "test");
    const id = (await findKey(fixture, ciSecret))?.id ?? "";
    await expect(revokeKey(fixture, id, "test")).rejects.toMatchObject({ code: "managed_by_file" });
    // The key was revoked while the file did not declare it.
    await fixture.database.kysely.updateTable("api_keys").set({ revoked_at: 1 }).where("id", "=", id).execute();
    await fixture.controlStore.apply(acmeWith({ name: "Another", keys: [{ name: "ci", secret: ciSecret }] }), "test");
    expect(await findKey(fixture, ciSecret)).toMatchObject({ id, enabled: false });
    const fresh = `${ciSecret}-2`;
    await fixture.controlStore.apply(acmeWith({ keys: [{ name: "ci", secret: fresh }] }), "test");
    const nextKey = await findKey(fixture, fresh);
    expect(nextKey).toMatchObject({ name: "ci", enabled: true });
    expect(nextKey?.id).not.toBe(id);
    expect(await findKey(fixture, ciSecret)).toMatchObject({ id, name: "ci (revoked 1970-01-01)", enabled: false });
    expect(await fixture.controlStore.apply(acmeWith({ keys: [{ name: "ci", secret: fresh }] }), "test")).toEqual([]);
  });
}

function consoleKeyTests(make: StoreFixtureFactory): void {
  test("creates a key in the console, and lists it with the start and the end of its secret", async () => {
    await using fixture = await make();
    await fixture.controlStore.addWorkspace({ slug: "acme", name: "Acme" }, by("admin"));
    const key = newKey("mine", {
      models: ["gpt-*"],
      expires_at: fixture.clock.now() + 5,
      limits: { tpm: 9 },
      budget: { usd: 1.5, period: "day" },
    });
    const created = await makeKey(fixture, key, "admin");
    expect(created).toMatchObject({
      workspace: { slug: "acme" },
      group: { name: "default" },
      managed_by: "console",
      prefix: "sk-sluice-mi",
      last_four: "wxyz",
      models: ["gpt-*"],
      expires_at: fixture.clock.now() + 5,
      limits: { tpm: 9 },
      budget: { usd: 1.5, period: "day" },
      created_by: null,
    });
    expect(await keysIn(fixture, "acme")).toEqual([created]);
    expect(await keysIn(fixture, "other")).toEqual([]);
    expect((await findKey(fixture, key.secret.reveal()))?.id).toBe(created.id);
  });

  test("rejects an unknown workspace or group, and a name or secret in use, naming the field", async () => {
    await using fixture = await make();
    await fixture.controlStore.addWorkspace({ slug: "acme", name: "Acme" }, by("admin"));
    await makeKey(fixture, newKey("mine"), "admin");
    const makeWith = (changes: Partial<FixtureKey>) => makeKey(fixture, newKey("other", changes), "admin");
    await expect(makeWith({ workspace: "nope" })).rejects.toMatchObject({ code: "not_found", param: "workspace" });
    await expect(makeWith({ group: "nope" })).rejects.toMatchObject({ code: "not_found", param: "group" });
    await expect(makeWith({ name: "mine" })).rejects.toMatchObject({ code: "conflict", param: "name" });
    await expect(makeWith({ secret: newKey("mine").secret })).rejects.toMatchObject({ param: "secret" });
    expect((await fixture.controlStore.listKeys(null)).length).toBe(1);
  });

  test("finds a revoked key by id or prefix, keeps it listed, and frees its name", async () => {
    await using fixture = await make();
    await fixture.controlStore.addWorkspace({ slug: "acme", name: "Acme" }, by("admin"));
    const created = await makeKey(fixture, newKey("one"), "admin");
    await makeKey(fixture, newKey("two"), "admin");
    expect((await revokeKey(fixture, created.prefix, "admin"))?.id).toBe(created.id);
    expect(await revokeKey(fixture, "sk-sluice-zz", "admin")).toBeNull();
    expect(await revokeKey(fixture, "", "admin")).toBeNull();
    const [changes, audits] = [await rowsOf(fixture, "changes"), await rowsOf(fixture, "audit_log")];
    expect((await revokeKey(fixture, created.id, "admin"))?.state).toBe("revoked");
    expect([await rowsOf(fixture, "changes"), await rowsOf(fixture, "audit_log")]).toEqual([changes, audits]);
    expect((await findKey(fixture, newKey("one").secret.reveal()))?.enabled).toBe(false);
    const again = await makeKey(
      fixture,
      newKey("one", { secret: new Secret("sk-sluice-the-next-secret-of-this-key-12345") }),
      "admin",
    );
    expect(again).toMatchObject({ name: "one", state: "active" });
    expect(again.id).not.toBe(created.id);
    expect(await findKey(fixture, newKey("one").secret.reveal())).toMatchObject({
      id: created.id,
      name: "one (revoked 2026-01-01)",
      enabled: false,
    });
  });

  test("finds no key by a prefix that several keys share", async () => {
    await using fixture = await make();
    await fixture.controlStore.addWorkspace({ slug: "acme", name: "Acme" }, by("admin"));
    const first = await makeKey(fixture, newKey("same", { name: "a" }), "admin");
    const other = new Secret(`${newKey("same").secret.reveal().slice(0, -4)}abcd`);
    await makeKey(fixture, newKey("same", { name: "b", secret: other }), "admin");
    await expect(revokeKey(fixture, first.prefix, "admin")).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
}
