import { describe, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import type { KeyChange } from "#directory/index.ts";
import {
  acmeConfig,
  acmeWith,
  by,
  ciSecret,
  findKey,
  makeKey,
  newKey,
  revokeKey,
  type StoreFixture,
  type StoreFixtureFactory,
} from "./store-fixture.ts";

const auditSource = { actor: "anna@example.com", ip: "192.0.2.1" };
const firstSecret = new Secret("sk-sluice-the-first-secret-of-this-key-0123456789");
const secondSecret = new Secret("sk-sluice-the-second-secret-of-this-key-012345678");

/** Guarantees of every implementation of the port `ControlStore` beyond the tests of the admin API. */
export function tenantStoreSuite(name: string, make: StoreFixtureFactory): void {
  describe(`tenants: ${name}`, () => {
    fieldTests(make);
    rotationTests(make);
    auditTests(make);
    placeTests(make);
  });
}

/** A user who may create keys everywhere. */
const createCreator = async ({ database, clock }: StoreFixture): Promise<string> => {
  const at = new Date(clock.now()).toISOString();
  const row = {
    name: "Anna",
    email: "anna@example.com",
    email_verified: 0,
    image: null,
    created_at: at,
    updated_at: at,
  };
  await database.kysely
    .insertInto("auth_users")
    .values({ id: "usr_1", ...row, two_factor_enabled: 0, administrator: 1, disabled: 0, last_seen_at: null })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
  return "usr_1";
};

const createKey = async (fixture: StoreFixture, change: KeyChange = {}) => {
  const workspace = await fixture.controlStore.addWorkspace({ slug: "lab" }, auditSource);
  const keyFields = { ...change, name: "ci", secret: firstSecret, createdBy: await createCreator(fixture) };
  return { workspace, key: await fixture.controlStore.addKey(workspace.id, keyFields, auditSource) };
};

function fieldTests(make: StoreFixtureFactory): void {
  test("returns limits and budgets unchanged, to the nano-USD", async () => {
    await using fixture = await make();
    const limits = { rpm: 1, tpm: 2, concurrency: 3, fail: "closed" } as const;
    const budget = { usd: 1_234.567890123, period: "total", fail: "open" } as const;
    const workspace = await fixture.controlStore.addWorkspace({ slug: "lab", limits, budget }, auditSource);
    expect(workspace).toMatchObject({ limits, budget });
    const group = await fixture.controlStore.addGroup(workspace.id, { name: "g", limits, budget }, auditSource);
    expect(group).toMatchObject({ limits, budget });
    const keyFields = {
      name: "k",
      secret: firstSecret,
      createdBy: await createCreator(fixture),
      group: "g",
      limits,
      budget,
    };
    const key = await fixture.controlStore.addKey(workspace.id, keyFields, auditSource);
    expect(key).toMatchObject({ limits, budget, group: { id: group.id, name: "g" } });
    const renamed = await fixture.controlStore.updateWorkspace(workspace.id, { name: "Lab" }, auditSource);
    expect(renamed).toMatchObject({ limits, budget, groups: 2, keys: 1 });
    expect((await findKey(fixture, firstSecret.reveal()))?.scope.budget?.nanoUsd).toBe(1_234_567_890_123);
  });

  test("returns not_found for an unknown workspace, group or key", async () => {
    await using fixture = await make();
    const { workspace, key } = await createKey(fixture);
    const store = fixture.controlStore;
    const missing = [
      () => store.updateWorkspace("ws_none", {}, auditSource),
      () => store.removeWorkspace("ws_none", auditSource),
      () => store.addGroup("ws_none", { name: "g" }, auditSource),
      () => store.updateGroup(workspace.id, "grp_none", {}, auditSource),
      () => store.removeGroup(workspace.id, "none", auditSource),
      () => store.addKey("ws_none", { name: "k", secret: secondSecret, createdBy: "usr_1" }, auditSource),
      () => store.updateKey(workspace.id, "key_none", () => ({}), auditSource),
      () => store.updateKey("ws_none", key.id, () => ({}), auditSource),
      () => store.rotateKey("ws_none", key.id, { secret: secondSecret, graceMs: 0 }, auditSource),
      () => store.revokeKey("ws_none", key.id, auditSource),
    ];
    for (const call of missing) await expect(call()).rejects.toMatchObject({ code: "not_found" });
    expect(await store.key("ws_none", key.id)).toBeNull();
    expect(await store.key(null, key.id)).toEqual(key);
    expect(await store.workspace("ws_none")).toBeNull();
  });
}

function rotationTests(make: StoreFixtureFactory): void {
  test("accepts the previous secret until its grace period ends, and keeps it reserved until then", async () => {
    await using fixture = await make();
    const { workspace, key } = await createKey(fixture);
    const rotation = { secret: secondSecret, graceMs: 1_000 };
    await fixture.controlStore.rotateKey(workspace.id, key.id, rotation, auditSource);
    expect(await findKey(fixture, secondSecret.reveal())).not.toHaveProperty("secretUntil");
    expect(await findKey(fixture, firstSecret.reveal())).toMatchObject({
      id: key.id,
      secretUntil: fixture.clock.now() + 1_000,
    });
    const twin = { name: "twin", secret: firstSecret, createdBy: await createCreator(fixture) };
    await expect(fixture.controlStore.addKey(workspace.id, twin, auditSource)).rejects.toMatchObject({
      param: "secret",
    });
  });

  test("ends the grace period of a rotation when the file sets a secret", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "file");
    const workspaceId = [...(await fixture.controlStore.configSnapshot()).workspaces.keys()][0] ?? "";
    const keyFields = { name: "mine", secret: firstSecret, createdBy: await createCreator(fixture) };
    const key = await fixture.controlStore.addKey(workspaceId, keyFields, auditSource);
    await fixture.controlStore.rotateKey(workspaceId, key.id, { secret: secondSecret, graceMs: 60_000 }, auditSource);
    const keys = (secret?: string) =>
      acmeWith({ keys: [{ name: "mine", ...(secret === undefined ? {} : { secret }) }] });
    await fixture.controlStore.apply(keys(), "file");
    expect((await findKey(fixture, firstSecret.reveal()))?.id).toBe(key.id);
    await fixture.controlStore.apply(keys(ciSecret), "file");
    expect((await findKey(fixture, ciSecret))?.id).toBe(key.id);
    for (const secret of [firstSecret, secondSecret]) expect(await findKey(fixture, secret.reveal())).toBeNull();
  });

  test("revokes both secrets from the command line, and starts the next key of that name with one", async () => {
    await using fixture = await make();
    const { key } = await createKey(fixture);
    await fixture.controlStore.rotateKey(
      key.workspace.id,
      key.id,
      { secret: secondSecret, graceMs: 60_000 },
      auditSource,
    );
    await revokeKey(fixture, key.id, "command line");
    expect(await findKey(fixture, firstSecret.reveal())).toBeNull();
    expect((await findKey(fixture, secondSecret.reveal()))?.enabled).toBe(false);
    await makeKey(fixture, newKey("third", { workspace: "lab", name: "ci" }), "command line");
    expect((await fixture.controlStore.key(null, key.id))?.old_secret_until).toBeNull();
  });
}

function auditTests(make: StoreFixtureFactory): void {
  test("records the workspace in every audit row about it, its groups and its keys", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "file");
    await fixture.controlStore.apply(acmeWith({ name: "Another", keys: [], groups: [] }), "file");
    await fixture.controlStore.addWorkspace({ slug: "own", name: "Own" }, by("command line"));
    const ownKey = await makeKey(fixture, newKey("mine", { workspace: "own" }), "command line");
    await revokeKey(fixture, ownKey.id, "command line");
    const { workspace, key } = await createKey(fixture);
    await fixture.controlStore.revokeKey(workspace.id, key.id, auditSource);
    await fixture.controlStore.apply({}, "file");
    const rows = await fixture.database.kysely.selectFrom("audit_log").selectAll().orderBy("seq").execute();
    const tenantRows = rows.filter((row) => /^(workspace|group|key) /.test(row.object));
    expect(new Set(tenantRows.map((row) => row.object.split(" ")[0]))).toEqual(new Set(["workspace", "group", "key"]));
    expect(tenantRows.filter((row) => row.workspace_id === null)).toEqual([]);
    expect(tenantRows.filter((row) => /lab/.test(row.object)).every((row) => row.workspace_id === workspace.id)).toBe(
      true,
    );
    expect(tenantRows.findLast((row) => row.object === "key lab/ci")).toMatchObject({
      action: "revoke",
      ...auditSource,
    });
  });
}

const emptyRule = {
  ...{ name: "n", kind: "budget", condition: "{}", channels: "[]", quiet_hours: null, repeat_hours: null },
  ...{ send_resolved: 0, enabled: 1, muted_until: null, created_at: 0 },
};

function placeTests(make: StoreFixtureFactory): void {
  test("keeps members and alert rules of a workspace that leaves the file until it is deleted", async () => {
    await using fixture = await make();
    await fixture.controlStore.apply(acmeConfig, "file");
    const [id = ""] = (await fixture.controlStore.configSnapshot()).workspaces.keys();
    await fixture.database.kysely
      .insertInto("alert_rules")
      .values({ ...emptyRule, id: "n", workspace_id: id })
      .execute();
    const rules = () =>
      fixture.database.kysely.selectFrom("alert_rules").select("id").where("workspace_id", "=", id).execute();
    await fixture.controlStore.apply({}, "file");
    expect(await rules()).toEqual([{ id: "n" }]);
    await fixture.controlStore.removeWorkspace(id, auditSource);
    expect(await rules()).toEqual([]);
  });

  test("finds a key by its id, or by a unique prefix of its secret", async () => {
    await using fixture = await make();
    const { key } = await createKey(fixture);
    expect((await fixture.controlStore.resolveKey(key.id))?.id).toBe(key.id);
    expect((await fixture.controlStore.resolveKey(key.prefix))?.id).toBe(key.id);
    expect(await fixture.controlStore.resolveKey("")).toBeNull();
  });
}
