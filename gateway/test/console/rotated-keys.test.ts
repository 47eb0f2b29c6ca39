import { describe, expect, test } from "bun:test";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };
const hour = 3_600_000;

interface Made {
  readonly id: string;
  readonly secret: string;
}

async function makeKey(fixture: TenantFixture): Promise<Made> {
  const { key, secret } = (await fixture.makeKey("member", { name: "ci" })).body;
  return { id: key.id, secret };
}

const rotate = (fixture: TenantFixture, key: Made, body: { readonly grace_seconds?: number } = {}) =>
  fixture.call("member", "keys.rotate", { params: { ...acme, key: key.id }, body });
const revoke = (fixture: TenantFixture, key: Made) =>
  fixture.call("member", "keys.revoke", { params: { ...acme, key: key.id } });

describe("a rotated key", () => {
  test("accepts the new secret at once, and without a grace period no longer the old one", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    expect(await fixture.authenticate(key.secret)).toBe(key.id);
    const { body } = await rotate(fixture, key);
    expect(body.key).toMatchObject({
      id: key.id,
      name: "ci",
      old_secret_until: null,
      last_four: body.secret.slice(-4),
    });
    expect(await fixture.authenticate(body.secret)).toBe(key.id);
    expect(await fixture.authenticate(key.secret)).toBe("invalid_api_key");
  });

  test("accepts both secrets until the grace period ends, to the millisecond and without another read", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    const { body } = await rotate(fixture, key, { grace_seconds: 3_600 });
    expect(body.key.old_secret_until).toBe(fixture.clock.now() + hour);
    expect(await fixture.authenticate(key.secret)).toBe(key.id);
    // From here on only the cache can answer; the database would throw.
    await fixture.database.kysely.updateTable("api_keys").set({ old_digest: null, digest: null }).execute();
    fixture.clock.jump(hour - 1);
    expect([await fixture.authenticate(key.secret), await fixture.authenticate(body.secret)]).toEqual([
      key.id,
      "invalid_api_key",
    ]);
    fixture.clock.jump(1);
    expect(await fixture.authenticate(key.secret)).toBe("expired_api_key");
  });

  test("reports after the grace period that the secret was rotated, also to a caller it has never seen", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    const { body } = await rotate(fixture, key, { grace_seconds: 60 });
    fixture.clock.jump(60_000);
    expect(await fixture.authenticate(key.secret)).toBe("expired_api_key");
    expect(await fixture.authenticate(body.secret)).toBe(key.id);
    const shown = await fixture.call("viewer", "keys.show", { params: { ...acme, key: key.id } });
    expect(shown.body).toMatchObject({ state: "active", old_secret_until: null });
  });

  test("keeps only the latest old secret after two rotations", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    const second = (await rotate(fixture, key, { grace_seconds: 3_600 })).body.secret;
    expect(await fixture.authenticate(key.secret)).toBe(key.id);
    const third = (await rotate(fixture, key, { grace_seconds: 60 })).body.secret;
    expect(await Promise.all([key.secret, second, third].map((secret) => fixture.authenticate(secret)))).toEqual([
      "invalid_api_key",
      key.id,
      key.id,
    ]);
  });

  test("rejects both secrets when it is revoked during the grace period", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    const { body } = await rotate(fixture, key, { grace_seconds: 3_600 });
    expect([await fixture.authenticate(key.secret), await fixture.authenticate(body.secret)]).toEqual([key.id, key.id]);
    const revoked = await revoke(fixture, key);
    expect(revoked.body).toMatchObject({ state: "revoked", old_secret_until: null });
    expect([await fixture.authenticate(key.secret), await fixture.authenticate(body.secret)]).toEqual([
      "invalid_api_key",
      "revoked_api_key",
    ]);
  });

  test("applies disabling and other changes during the grace period to both secrets", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    const { body } = await rotate(fixture, key, { grace_seconds: 3_600 });
    const params = { ...acme, key: key.id };
    const both = async () => [await fixture.authenticate(key.secret), await fixture.authenticate(body.secret)];
    await both();
    await fixture.call("member", "keys.update", { params, body: { enabled: false } });
    expect(await both()).toEqual(["disabled_api_key", "disabled_api_key"]);
    await fixture.call("member", "keys.update", { params, body: { enabled: true, allowed_ips: ["10.0.0.1"] } });
    expect(await both()).toEqual(["ip_not_allowed", "ip_not_allowed"]);
  });

  test("leaves an audit row that distinguishes the secrets but contains neither them nor their digests", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    const { body } = await rotate(fixture, key, { grace_seconds: 60 });
    const last = (await fixture.audit()).at(-1);
    expect(last).toMatchObject({ action: "rotate", object: "key acme/ci", workspace_id: fixture.acme.id });
    expect(JSON.parse(last?.before ?? "").last_four).toBe(key.secret.slice(-4));
    expect(JSON.parse(last?.after ?? "")).toMatchObject({
      last_four: body.secret.slice(-4),
      old_secret_until: fixture.clock.now() + 60_000,
    });
    const rows = JSON.stringify(await fixture.audit());
    for (const secret of [key.secret, body.secret]) {
      expect(rows).not.toContain(secret);
      expect(rows).not.toContain(fixture.vault.digest(secret));
    }
  });

  test("has a grace period of at most thirty days", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    for (const grace_seconds of [-1, 2_592_001, 1.5]) {
      expect(await rotate(fixture, key, { grace_seconds })).toMatchObject({ status: 400, param: "grace_seconds" });
    }
  });

  test("has one current and one replaced secret after two simultaneous rotations", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    const both = await Promise.all([rotate(fixture, key), rotate(fixture, key)]);
    const outcomes = await Promise.all(both.map((answer) => fixture.authenticate(answer.body.secret)));
    expect(outcomes.sort()).toEqual(["invalid_api_key", key.id]);
  });
});

describe("a revoked key", () => {
  test("is refused at once, also for a caller admitted a moment before, and stays listed", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    expect(await fixture.authenticate(key.secret)).toBe(key.id);
    expect((await revoke(fixture, key)).body).toMatchObject({ state: "revoked", revoked_at: fixture.clock.now() });
    expect(await fixture.authenticate(key.secret)).toBe("revoked_api_key");
  });

  test("stays revoked: it cannot be changed or rotated, and revoking it again changes nothing", async () => {
    await using fixture = await openTenantFixture();
    const key = await makeKey(fixture);
    const first = await revoke(fixture, key);
    const rows = (await fixture.audit()).length;
    fixture.clock.jump(5);
    expect((await revoke(fixture, key)).body).toEqual(first.body);
    expect((await fixture.audit()).length).toBe(rows);
    const params = { ...acme, key: key.id };
    expect(await rotate(fixture, key)).toMatchObject({ status: 409, code: "conflict" });
    expect(await fixture.call("admin", "keys.update", { params, body: { enabled: true } })).toMatchObject({
      status: 409,
      code: "conflict",
    });
  });
});
