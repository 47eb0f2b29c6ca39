import { describe, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import type { NewKey } from "#ports/index.ts";
import {
  acmeConfig,
  acmeWith,
  ciSecret,
  findKey,
  newKey,
  type StoreGround,
  type StoreGroundFactory,
} from "./store-ground.ts";

/** What every implementation of the port `ControlStore` guarantees about API keys. */
export function storedKeysSuite(name: string, make: StoreGroundFactory): void {
  describe(`stored keys: ${name}`, () => {
    keyOfFileTests(make);
    consoleKeyTests(make);
  });
}

const rowsOf = async (ground: StoreGround, table: "changes" | "audit_log") =>
  (await ground.database.kysely.selectFrom(table).select("seq").execute()).length;

function keyOfFileTests(make: StoreGroundFactory): void {
  test("a key of the file is found by its digest, with all the file says of it", async () => {
    await using ground = await make();
    await ground.controlStore.apply(acmeConfig, "test");
    expect(await findKey(ground, ciSecret)).toMatchObject({
      name: "ci",
      lastFour: "nows",
      models: null,
      allowedIps: ["10.0.0.0/8"],
      enabled: true,
      expiresAt: null,
      tags: { team: "build" },
      scope: { kind: "key", label: "key acme/ci", limits: { rpm: 60 }, budget: null },
    });
    expect(await findKey(ground, `${ciSecret}x`)).toBeNull();
  });

  test("a key that vanishes from the file stops working", async () => {
    await using ground = await make();
    await ground.controlStore.apply(acmeConfig, "test");
    expect(await ground.controlStore.apply(acmeWith({ keys: [{ name: "later", group: "batch" }] }), "test")).toEqual([
      "removed key acme/ci",
    ]);
    expect(await findKey(ground, ciSecret)).toBeNull();
  });

  test("keys may exchange names and secrets in one apply", async () => {
    await using ground = await make();
    const keys = (a: string, b: string) =>
      acmeWith({
        keys: [
          { name: "a", secret: a },
          { name: "b", secret: b },
        ],
      });
    const [one, two] = ["the-first-secret-of-the-two-keys", "the-second-secret-of-the-two-keys"] as const;
    await ground.controlStore.apply(keys(one, two), "test");
    await ground.controlStore.apply(keys(two, one), "test");
    expect((await findKey(ground, two))?.name).toBe("a");
    await ground.controlStore.apply(acmeWith({ keys: [{ name: "c", secret: two }] }), "test");
    expect((await findKey(ground, two))?.name).toBe("c");
    expect(await findKey(ground, one)).toBeNull();
  });

  test("a key declared without a secret gets the one that is made for it, and keeps it", async () => {
    await using ground = await make();
    await ground.controlStore.apply(acmeConfig, "test");
    const made = newKey("later", { limits: { rpm: 1 } });
    const listing = await ground.controlStore.createKey(made, "test");
    expect(listing).toMatchObject({ groupName: "batch", managedBy: "file", scope: { limits: {} } });
    expect(await ground.controlStore.apply(acmeConfig, "test")).toEqual([]);
    expect((await findKey(ground, made.secret.reveal()))?.id).toBe(listing.id);
  });

  test("a revoked key of the file stays revoked until the file gives another secret", async () => {
    await using ground = await make();
    await ground.controlStore.apply(acmeConfig, "test");
    const id = (await findKey(ground, ciSecret))?.id ?? "";
    expect((await ground.controlStore.revokeKey(id, "test"))?.enabled).toBe(false);
    await ground.controlStore.apply(acmeWith({ name: "Another", keys: [{ name: "ci", secret: ciSecret }] }), "test");
    expect((await findKey(ground, ciSecret))?.enabled).toBe(false);
    const fresh = `${ciSecret}-2`;
    await ground.controlStore.apply(acmeWith({ keys: [{ name: "ci", secret: fresh }] }), "test");
    expect(await findKey(ground, fresh)).toMatchObject({ id, enabled: true });
    expect(await findKey(ground, ciSecret)).toBeNull();
  });
}

function consoleKeyTests(make: StoreGroundFactory): void {
  test("a key made in the console works, is listed, and is recognised by its ends", async () => {
    await using ground = await make();
    await ground.controlStore.createWorkspace("acme", "Acme", "admin");
    const key = newKey("mine", {
      models: ["gpt-*"],
      expiresAt: 5,
      limits: { tpm: 9 },
      budget: { usd: 1.5, period: "day" },
    });
    const made = await ground.controlStore.createKey(key, "admin");
    expect(made).toMatchObject({
      workspaceSlug: "acme",
      groupName: "default",
      managedBy: "console",
      prefix: "sk-sluice-mi",
      lastFour: "wxyz",
      models: ["gpt-*"],
      expiresAt: 5,
      scope: { limits: { tpm: 9 }, budget: { nanoUsd: 1_500_000_000, period: "day" } },
    });
    expect(await ground.controlStore.listKeys("acme")).toEqual([made]);
    expect(await ground.controlStore.listKeys("other")).toEqual([]);
    expect((await findKey(ground, key.secret.reveal()))?.id).toBe(made.id);
  });

  test("an unknown workspace or group, a taken name and a taken secret are refused by name", async () => {
    await using ground = await make();
    await ground.controlStore.createWorkspace("acme", "Acme", "admin");
    await ground.controlStore.createKey(newKey("mine"), "admin");
    const failing = (changes: Partial<NewKey>) => ground.controlStore.createKey(newKey("other", changes), "admin");
    await expect(failing({ workspace: "nope" })).rejects.toMatchObject({ code: "not_found", param: "workspace" });
    await expect(failing({ group: "nope" })).rejects.toMatchObject({ code: "not_found", param: "group" });
    await expect(failing({ name: "mine" })).rejects.toMatchObject({ code: "invalid_request", param: "name" });
    await expect(failing({ secret: newKey("mine").secret })).rejects.toMatchObject({ param: "secret" });
    expect((await ground.controlStore.listKeys(null)).length).toBe(1);
  });

  test("a revoked key is found by id or prefix, stays listed, and its name can be used again", async () => {
    await using ground = await make();
    await ground.controlStore.createWorkspace("acme", "Acme", "admin");
    const made = await ground.controlStore.createKey(newKey("one"), "admin");
    await ground.controlStore.createKey(newKey("two"), "admin");
    expect((await ground.controlStore.revokeKey(made.prefix, "admin"))?.id).toBe(made.id);
    expect(await ground.controlStore.revokeKey("sk-sluice-zz", "admin")).toBeNull();
    expect(await ground.controlStore.revokeKey("", "admin")).toBeNull();
    const [changes, audits] = [await rowsOf(ground, "changes"), await rowsOf(ground, "audit_log")];
    expect((await ground.controlStore.revokeKey(made.id, "admin"))?.enabled).toBe(false);
    expect([await rowsOf(ground, "changes"), await rowsOf(ground, "audit_log")]).toEqual([changes, audits]);
    expect((await findKey(ground, newKey("one").secret.reveal()))?.enabled).toBe(false);
    const again = await ground.controlStore.createKey(
      newKey("one", { secret: new Secret("sk-sluice-the-next-secret-of-this-key-12345") }),
      "admin",
    );
    expect(again).toMatchObject({ id: made.id, enabled: true });
    expect(await findKey(ground, newKey("one").secret.reveal())).toBeNull();
  });

  test("a prefix that several keys share names none of them", async () => {
    await using ground = await make();
    await ground.controlStore.createWorkspace("acme", "Acme", "admin");
    const first = await ground.controlStore.createKey(newKey("same", { name: "a" }), "admin");
    const other = new Secret(`${newKey("same").secret.reveal().slice(0, -4)}abcd`);
    await ground.controlStore.createKey(newKey("same", { name: "b", secret: other }), "admin");
    await expect(ground.controlStore.revokeKey(first.prefix, "admin")).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
}
