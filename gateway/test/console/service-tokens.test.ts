import { describe, expect, test } from "bun:test";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };
const day = 86_400_000;

const wanted = (fixture: TenantFixture) => ({ name: "ci", service: true, expires_at: fixture.clock.now() + 30 * day });

async function makeToken(fixture: TenantFixture) {
  const made = await fixture.makeKey("admin", wanted(fixture));
  expect(made.status).toBe(201);
  return { id: made.body.key.id as string, secret: made.body.secret as string, key: made.body.key };
}

const rotate = (fixture: TenantFixture, id: string, body: object) =>
  fixture.call("admin", "keys.rotate", { params: { ...acme, key: id }, body });

describe("a service token", () => {
  test("is a key that expires and has no owner, created by admins only", async () => {
    await using fixture = await openTenantFixture();
    const { key, secret, id } = await makeToken(fixture);
    expect(key).toMatchObject({ service: true, created_by: null, expires_at: fixture.clock.now() + 30 * day });
    expect(await fixture.authenticate(secret)).toBe(id);
    expect(await fixture.makeKey("member", { ...wanted(fixture), name: "x" })).toMatchObject({
      status: 403,
      param: "service",
    });
    const [row] = (await fixture.audit()).slice(-1);
    expect([row?.actor, JSON.parse(row?.after ?? "").service]).toEqual(["admin@example.com", true]);
  });

  test("always has an expiry, on creation and after changes", async () => {
    await using fixture = await openTenantFixture();
    const refused = { status: 400, code: "invalid_request", param: "expires_at" };
    expect(await fixture.makeKey("admin", { name: "ci", service: true })).toMatchObject(refused);
    expect(await fixture.makeKey("admin", { name: "ci", service: true, expires_at: null })).toMatchObject(refused);
    const { id } = await makeToken(fixture);
    const params = { ...acme, key: id };
    const update = (body: object) => fixture.call("admin", "keys.update", { params, body });
    expect(await update({ expires_at: null })).toMatchObject(refused);
    expect((await update({ name: "ci 2" })).body).toMatchObject({ name: "ci 2", service: true });
    // It never has an owner.
    const owner = fixture.users.member.id;
    const owned = { status: 400, param: "owner" };
    expect(await fixture.makeKey("admin", { ...wanted(fixture), name: "x", owner })).toMatchObject(owned);
    expect(await update({ owner })).toMatchObject(owned);
    // `service` cannot be changed later.
    expect((await update({ service: false })).status).toBe(400);
  });

  test("is renewed by a rotation: the new secret until its new expiry, the old one until the grace period ends", async () => {
    await using fixture = await openTenantFixture();
    const { id, secret } = await makeToken(fixture);
    const until = fixture.clock.now() + 90 * day;
    const { body } = await rotate(fixture, id, { grace_seconds: 86_400, expires_at: until });
    expect(body.key).toMatchObject({ expires_at: until, old_secret_until: fixture.clock.now() + day });
    expect(await Promise.all([secret, body.secret].map((each) => fixture.authenticate(each)))).toEqual([id, id]);
    fixture.clock.jump(day);
    expect([await fixture.authenticate(secret), await fixture.authenticate(body.secret)]).toEqual([
      "expired_api_key",
      id,
    ]);
    fixture.clock.jump(89 * day);
    expect(await fixture.authenticate(body.secret)).toBe("expired_api_key");
  });

  test("a rotation does not extend the old secret beyond its expiry", async () => {
    await using fixture = await openTenantFixture();
    const { id, secret, key } = await makeToken(fixture);
    const now = fixture.clock.now();
    const { body } = await rotate(fixture, id, { grace_seconds: 30 * 86_400 - 1, expires_at: now + 90 * day });
    expect(body.key.old_secret_until).toBe(key.expires_at - 1_000);
    fixture.clock.jump(29 * day);
    const again = await rotate(fixture, id, { grace_seconds: 30 * 86_400, expires_at: now + 300 * day });
    expect(again.body.key.old_secret_until).toBe(now + 59 * day);
    expect(await fixture.authenticate(secret)).toBe("invalid_api_key");
  });

  test("that has expired needs a new expiry to be rotated, and its old secret stays invalid", async () => {
    await using fixture = await openTenantFixture();
    const { id, secret } = await makeToken(fixture);
    fixture.clock.jump(31 * day);
    expect(await rotate(fixture, id, {})).toMatchObject({ status: 400, param: "expires_at" });
    const { body } = await rotate(fixture, id, { grace_seconds: 60, expires_at: fixture.clock.now() + day });
    expect(body.key).toMatchObject({ state: "active", old_secret_until: null });
    expect([await fixture.authenticate(secret), await fixture.authenticate(body.secret)]).toEqual([
      "invalid_api_key",
      id,
    ]);
  });

  test("stays when its creator leaves, and only admins rotate and revoke it", async () => {
    await using fixture = await openTenantFixture();
    const { id, secret } = await makeToken(fixture);
    const params = { ...acme, key: id };
    for (const route of ["keys.rotate", "keys.revoke"] as const) {
      expect((await fixture.call("member", route, { params, body: {} })).status).toBe(403);
    }
    const { id: user } = fixture.users.admin;
    const gone = await fixture.call("administrator", "users.update", { params: { user }, body: { disabled: true } });
    expect(gone.status).toBe(200);
    expect(await fixture.authenticate(secret)).toBe(id);
    expect((await fixture.call("administrator", "keys.revoke", { params })).body.state).toBe("revoked");
    expect(await fixture.authenticate(secret)).toBe("revoked_api_key");
  });
});

test("a rotation does not extend a key for a member: only admins set a new expiry", async () => {
  await using fixture = await openTenantFixture();
  const { key } = (await fixture.makeKey("member", { name: "mine" })).body;
  const params = { ...acme, key: key.id };
  const body = { expires_at: fixture.clock.now() + day };
  expect(await fixture.call("member", "keys.rotate", { params, body })).toMatchObject({ status: 403 });
  expect((await fixture.call("admin", "keys.rotate", { params, body })).body.key.expires_at).toBe(body.expires_at);
});
