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
  type StoreGround,
  type StoreGroundFactory,
} from "./store-ground.ts";

const auditSource = { actor: "anna@example.com", ip: "192.0.2.1" };
const firstSecret = new Secret("sk-sluice-the-first-secret-of-this-key-0123456789");
const secondSecret = new Secret("sk-sluice-the-second-secret-of-this-key-012345678");

/** What every implementation of the port `ControlStore` guarantees beyond the tests of the admin API. */
export function tenantStoreSuite(name: string, make: StoreGroundFactory): void {
  describe(`tenants: ${name}`, () => {
    fieldTests(make);
    rotationTests(make);
    auditTests(make);
    placeTests(make);
  });
}

/** A user who may create keys everywhere. */
const createCreator = async ({ database, clock }: StoreGround): Promise<string> => {
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

const createKey = async (ground: StoreGround, change: KeyChange = {}) => {
  const workspace = await ground.controlStore.addWorkspace({ slug: "lab" }, auditSource);
  const keyFields = { ...change, name: "ci", secret: firstSecret, createdBy: await createCreator(ground) };
  return { workspace, key: await ground.controlStore.addKey(workspace.id, keyFields, auditSource) };
};

function fieldTests(make: StoreGroundFactory): void {
  test("returns limits and budgets unchanged, to the nano-USD", async () => {
    await using ground = await make();
    const limits = { rpm: 1, tpm: 2, concurrency: 3, fail: "closed" } as const;
    const budget = { usd: 1_234.567890123, period: "total", fail: "open" } as const;
    const workspace = await ground.controlStore.addWorkspace({ slug: "lab", limits, budget }, auditSource);
    expect(workspace).toMatchObject({ limits, budget });
    const group = await ground.controlStore.addGroup(workspace.id, { name: "g", limits, budget }, auditSource);
    expect(group).toMatchObject({ limits, budget });
    const keyFields = {
      name: "k",
      secret: firstSecret,
      createdBy: await createCreator(ground),
      group: "g",
      limits,
      budget,
    };
    const key = await ground.controlStore.addKey(workspace.id, keyFields, auditSource);
    expect(key).toMatchObject({ limits, budget, group: { id: group.id, name: "g" } });
    const renamed = await ground.controlStore.updateWorkspace(workspace.id, { name: "Lab" }, auditSource);
    expect(renamed).toMatchObject({ limits, budget, groups: 2, keys: 1 });
    expect((await findKey(ground, firstSecret.reveal()))?.scope.budget?.nanoUsd).toBe(1_234_567_890_123);
  });

  test("returns not_found for an unknown workspace, group or key", async () => {
    await using ground = await make();
    const { workspace, key } = await createKey(ground);
    const store = ground.controlStore;
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

function rotationTests(make: StoreGroundFactory): void {
  test("accepts the previous secret until its grace period ends, and keeps it reserved until then", async () => {
    await using ground = await make();
    const { workspace, key } = await createKey(ground);
    const rotation = { secret: secondSecret, graceMs: 1_000 };
    await ground.controlStore.rotateKey(workspace.id, key.id, rotation, auditSource);
    expect(await findKey(ground, secondSecret.reveal())).not.toHaveProperty("secretUntil");
    expect(await findKey(ground, firstSecret.reveal())).toMatchObject({
      id: key.id,
      secretUntil: ground.clock.now() + 1_000,
    });
    const twin = { name: "twin", secret: firstSecret, createdBy: await createCreator(ground) };
    await expect(ground.controlStore.addKey(workspace.id, twin, auditSource)).rejects.toMatchObject({
      param: "secret",
    });
  });

  test("ends the grace period of a rotation when the file sets a secret", async () => {
    await using ground = await make();
    await ground.controlStore.apply(acmeConfig, "file");
    const workspaceId = [...(await ground.controlStore.configSnapshot()).workspaces.keys()][0] ?? "";
    const keyFields = { name: "mine", secret: firstSecret, createdBy: await createCreator(ground) };
    const key = await ground.controlStore.addKey(workspaceId, keyFields, auditSource);
    await ground.controlStore.rotateKey(workspaceId, key.id, { secret: secondSecret, graceMs: 60_000 }, auditSource);
    const keys = (secret?: string) =>
      acmeWith({ keys: [{ name: "mine", ...(secret === undefined ? {} : { secret }) }] });
    await ground.controlStore.apply(keys(), "file");
    expect((await findKey(ground, firstSecret.reveal()))?.id).toBe(key.id);
    await ground.controlStore.apply(keys(ciSecret), "file");
    expect((await findKey(ground, ciSecret))?.id).toBe(key.id);
    for (const secret of [firstSecret, secondSecret]) expect(await findKey(ground, secret.reveal())).toBeNull();
  });

  test("revokes both secrets from the command line, and starts the next key of that name with one", async () => {
    await using ground = await make();
    const { key } = await createKey(ground);
    await ground.controlStore.rotateKey(
      key.workspace.id,
      key.id,
      { secret: secondSecret, graceMs: 60_000 },
      auditSource,
    );
    await revokeKey(ground, key.id, "command line");
    expect(await findKey(ground, firstSecret.reveal())).toBeNull();
    expect((await findKey(ground, secondSecret.reveal()))?.enabled).toBe(false);
    await makeKey(ground, newKey("third", { workspace: "lab", name: "ci" }), "command line");
    expect((await ground.controlStore.key(null, key.id))?.old_secret_until).toBeNull();
  });
}

function auditTests(make: StoreGroundFactory): void {
  test("records the workspace in every audit row about it, its groups and its keys", async () => {
    await using ground = await make();
    await ground.controlStore.apply(acmeConfig, "file");
    await ground.controlStore.apply(acmeWith({ name: "Another", keys: [], groups: [] }), "file");
    await ground.controlStore.addWorkspace({ slug: "own", name: "Own" }, by("command line"));
    const ownKey = await makeKey(ground, newKey("mine", { workspace: "own" }), "command line");
    await revokeKey(ground, ownKey.id, "command line");
    const { workspace, key } = await createKey(ground);
    await ground.controlStore.revokeKey(workspace.id, key.id, auditSource);
    await ground.controlStore.apply({}, "file");
    const rows = await ground.database.kysely.selectFrom("audit_log").selectAll().orderBy("seq").execute();
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

function placeTests(make: StoreGroundFactory): void {
  test("keeps members and notices of a workspace that leaves the file until it is deleted", async () => {
    await using ground = await make();
    await ground.controlStore.apply(acmeConfig, "file");
    const [id = ""] = (await ground.controlStore.configSnapshot()).workspaces.keys();
    await ground.database.kysely
      .insertInto("notices")
      .values({ id: "n", workspace_id: id, name: "n", percent: "[]", sealed_channel: "", enabled: 1, created_at: 0 })
      .execute();
    const notices = () => ground.database.kysely.selectFrom("notices").select("id").execute();
    await ground.controlStore.apply({}, "file");
    expect(await notices()).toEqual([{ id: "n" }]);
    await ground.controlStore.removeWorkspace(id, auditSource);
    expect(await notices()).toEqual([]);
  });

  test("finds a key by its id, or by a unique prefix of its secret", async () => {
    await using ground = await make();
    const { key } = await createKey(ground);
    expect((await ground.controlStore.resolveKey(key.id))?.id).toBe(key.id);
    expect((await ground.controlStore.resolveKey(key.prefix))?.id).toBe(key.id);
    expect(await ground.controlStore.resolveKey("")).toBeNull();
  });
}
