import { expect, test } from "bun:test";
import { workspaceRoles } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import { wholeText } from "../conformance/store-fixture.ts";
import type { Who } from "../console-fixture.ts";
import { openPeopleFixture, type PeopleFixture } from "./people-fixture.ts";

const acme = { workspace: "acme" };
const create = (fixture: PeopleFixture, who: Who, body: object) =>
  fixture.call(who, "tokens.create", { body: { name: "ci", ...body } });

test("a token is shown once, recognized by its prefix, and stored as a digest", async () => {
  await using fixture = await openPeopleFixture();
  const { status, body } = await create(fixture, "admin", { ...acme, role: "member" });
  expect(status).toBe(201);
  expect(body.secret).toMatch(/^sluice-admin-[0-9A-Za-z]{49}$/);
  expect(body.token).toMatchObject({
    prefix: body.secret.slice(0, 17),
    workspace: { slug: "acme" },
    role: "member",
    administrator: false,
    owner: { email: "admin@example.com" },
  });
  expect(await wholeText(fixture.database)).not.toContain(body.secret);
  const listed = await fixture.call("admin", "tokens.list");
  expect(JSON.stringify(listed.body)).not.toContain(body.secret);
  const [row] = (await fixture.audit()).slice(-1);
  expect([row?.actor, row?.action, row?.object]).toEqual(["admin@example.com", "create", "admin token acme/ci"]);
});

test("a token has at most its creator's role, and only where its creator has one", async () => {
  await using fixture = await openPeopleFixture();
  for (const held of workspaceRoles) {
    for (const role of workspaceRoles) {
      const allowed = workspaceRoles.indexOf(role) <= workspaceRoles.indexOf(held);
      const { status } = await create(fixture, held, { ...acme, role });
      expect([held, role, status]).toEqual([held, role, allowed ? 201 : 403]);
    }
    expect((await create(fixture, held, { administrator: true })).param).toBe("administrator");
    expect((await create(fixture, held, { workspace: "other", role: "viewer" })).status).toBe(404);
  }
  expect((await create(fixture, "newcomer", { ...acme, role: "viewer" })).status).toBe(404);
  expect((await create(fixture, "administrator", { administrator: true })).body.token.administrator).toBe(true);
  expect((await create(fixture, "administrator", { workspace: "other", role: "owner" })).status).toBe(201);
});

test("a token has one scope, and the error names what is missing or extra", async () => {
  await using fixture = await openPeopleFixture();
  const paramOf = async (body: object) => (await create(fixture, "administrator", body)).param;
  expect(await paramOf({})).toBe("workspace");
  expect(await paramOf(acme)).toBe("role");
  expect(await paramOf({ administrator: true, ...acme })).toBe("workspace");
  expect(await paramOf({ administrator: true, role: "viewer" })).toBe("role");
  expect(await paramOf({ workspace: "-", role: "viewer" })).toBe("workspace");
  expect(await paramOf({ ...acme, role: "viewer", expires_at: fixture.clock.now() })).toBe("expires_at");
  expect(await paramOf({ ...acme, role: "viewer", name: " " })).toBe("name");
});

test("a token acts with its role in its workspace only, and is named in the audit log", async () => {
  await using fixture = await openPeopleFixture();
  const { secret } = (await create(fixture, "owner", { ...acme, role: "admin" })).body;
  const who = { token: secret };
  const invite = (role: "owner" | "member") =>
    fixture.call(who, "invitations.create", { params: acme, body: { email: `${role}2@example.com`, role } });
  expect((await invite("owner")).code).toBe("forbidden");
  expect((await invite("member")).status).toBe(201);
  expect((await fixture.audit()).at(-1)?.actor).toBe("owner@example.com (token ci)");
  expect((await fixture.call(who, "members.list", { params: { workspace: "other" } })).status).toBe(404);
  expect((await fixture.call(who, "users.list")).status).toBe(403);
});

test("a token ends when it expires, when it is revoked, and when its creator leaves", async () => {
  await using fixture = await openPeopleFixture();
  const works = async (secret: string) => (await fixture.call({ token: secret }, "tokens.list")).status === 200;
  const make = async (more: object = {}) =>
    (await create(fixture, "member", { ...acme, role: "member", ...more })).body;
  const [short, revoked, left] = [await make({ expires_at: fixture.clock.now() + 1_000 }), await make(), await make()];
  expect(await works(short.secret)).toBe(true);
  fixture.clock.advance(1_000);
  expect(await works(short.secret)).toBe(false);
  await fixture.call("member", "tokens.revoke", { params: { token: revoked.token.id } });
  expect(await works(revoked.secret)).toBe(false);
  expect(await works(left.secret)).toBe(true);
  const params = { workspace: "acme", user: fixture.users.member.id };
  await fixture.call("member", "members.remove", { params });
  expect(await works(left.secret)).toBe(false);
});

test("a user sees only their own tokens, others return 404, and an administrator sees all", async () => {
  await using fixture = await openPeopleFixture();
  const { token } = (await create(fixture, "member", { ...acme, role: "member" })).body;
  const revoke = async (who: Who) => (await fixture.call(who, "tokens.revoke", { params: { token: token.id } })).status;
  const names = async (who: Who) => (await fixture.call(who, "tokens.list")).body.data.length;
  expect([await names("owner"), await names("member"), await names("administrator")]).toEqual([0, 1, 1]);
  expect([await revoke("owner"), await revoke("viewer"), await revoke("stranger")]).toEqual([404, 404, 404]);
  const weak = (await create(fixture, "member", { ...acme, role: "viewer" })).body.secret;
  expect(await revoke({ token: weak })).toBe(404);
  expect([await revoke("administrator"), await revoke("member")]).toEqual([200, 404]);
});

test("a token created by a token has no more rights, expires no later, and ends with it", async () => {
  await using fixture = await openPeopleFixture();
  const end = fixture.clock.now() + 60_000;
  const parent = (await create(fixture, "owner", { ...acme, role: "admin", expires_at: end })).body;
  const by = { token: parent.secret };
  expect((await create(fixture, by, { ...acme, role: "owner" })).code).toBe("forbidden");
  expect((await create(fixture, by, { ...acme, role: "admin", expires_at: end + 1 })).param).toBe("expires_at");
  const child = (await create(fixture, by, { ...acme, role: "admin" })).body;
  expect(child.token.expires_at).toBe(end);
  expect((await fixture.call({ token: child.secret }, "tokens.list")).status).toBe(200);
  await fixture.call("owner", "tokens.revoke", { params: { token: parent.token.id } });
  expect((await fixture.call({ token: child.secret }, "tokens.list")).status).toBe(401);
});

test("limits the number of a user's tokens", async () => {
  await using fixture = await openPeopleFixture();
  for (let made = 0; made < bounds.tokensPerUserMax; made++) {
    const grant = { administrator: false, workspaceId: fixture.acme.id, role: "viewer" } as const;
    const token = {
      name: "x",
      grant,
      ownerId: fixture.users.viewer.id,
      digest: `d${made}`,
      prefix: "",
      expiresAt: null,
    };
    await fixture.people.createToken(token, { actor: "test", ip: null });
  }
  expect((await create(fixture, "viewer", { ...acme, role: "viewer" })).code).toBe("conflict");
});
