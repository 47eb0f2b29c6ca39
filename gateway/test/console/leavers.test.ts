import { describe, expect, test } from "bun:test";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };

/** Ways to stop being a key manager. */
const endings = ["removed from the workspace", "leaving", "removed", "disabled", "removed as token"] as const;

async function end(fixture: TenantFixture, how: (typeof endings)[number], body: object = {}) {
  const user = fixture.users.member.id;
  if (how === "removed")
    return await fixture.call("administrator", "users.remove", { params: { user }, body: { ...body } });
  if (how === "disabled") {
    return await fixture.call("administrator", "users.update", { params: { user }, body: { disabled: true, ...body } });
  }
  const params = { ...acme, user };
  if (how === "leaving") return await fixture.call("member", "members.remove", { params, body: { ...body } });
  if (how === "removed from the workspace")
    return await fixture.call("admin", "members.remove", { params, body: { ...body } });
  const token = { name: "script", workspace: "acme", role: "admin" };
  const { secret } = (await fixture.call("owner", "tokens.create", { body: token })).body;
  return await fixture.call({ token: secret }, "members.remove", { params, body: { ...body } });
}

describe.each(endings)("keys of a user who is %s", (how) => {
  test("rejects removal until the keys have a new owner or end", async () => {
    await using fixture = await openTenantFixture();
    const { secret } = (await fixture.makeKey("member", { name: "ci" })).body;
    const refused = await end(fixture, how);
    expect(refused).toMatchObject({ status: 400, code: "missing_required_parameter", param: "keys" });
    expect(refused.body.error.message).toContain("acme/ci");
    expect(await fixture.authenticate(secret)).toStartWith("key_");
    expect((await fixture.call("member", "keys.create", { params: acme, body: { name: "another" } })).status).toBe(201);
  });

  test("revokes all their secrets at once, with an audit row for each key", async () => {
    await using fixture = await openTenantFixture();
    const one = (await fixture.makeKey("member", { name: "one" })).body;
    const two = (await fixture.makeKey("member", { name: "two" })).body;
    const of = (await fixture.makeKey("admin", { name: "of the admin" })).body;
    const params = { ...acme, key: two.key.id };
    const turned = (await fixture.call("member", "keys.rotate", { params, body: { grace_seconds: 3_600 } })).body;
    const secrets = [one.secret, two.secret, turned.secret];
    for (const secret of secrets) expect(await fixture.authenticate(secret)).toStartWith("key_");
    expect((await end(fixture, how, { keys: "revoke" })).status).toBe(200);
    for (const secret of secrets) expect(await fixture.authenticate(secret)).not.toStartWith("key_");
    expect(await fixture.authenticate(of.secret)).toBe(of.key.id);
    const rows = (await fixture.audit()).filter(({ action }) => action === "revoke").map(({ object }) => object);
    expect(rows).toEqual(["key acme/one", "key acme/two"]);
  });

  test("keeps keys disabled until an admin enables them", async () => {
    await using fixture = await openTenantFixture();
    const { key, secret } = (await fixture.makeKey("member", { name: "ci" })).body;
    expect((await end(fixture, how, { keys: "disable" })).status).toBe(200);
    expect(await fixture.authenticate(secret)).toBe("disabled_api_key");
    const enable = { params: { ...acme, key: key.id }, body: { enabled: true } };
    expect((await fixture.call("member", "keys.update", enable)).status).not.toBe(200);
    expect((await fixture.call("admin", "keys.update", enable)).status).toBe(200);
    expect(await fixture.authenticate(secret)).toBe(key.id);
  });

  test("transfers keys to another user within the limits that were set on them", async () => {
    await using fixture = await openTenantFixture();
    const { key, secret } = (await fixture.makeKey("member", { name: "ci", limits: { rpm: 5 } })).body;
    const heir = fixture.users.newcomer.id;
    await fixture.people.setMember(fixture.acme.id, heir, "member", { actor: "test", ip: null });
    expect((await end(fixture, how, { keys: { hand_over_to: heir } })).status).toBe(200);
    expect(await fixture.authenticate(secret)).toBe(key.id);
    const change = (body: object) =>
      fixture.call("newcomer", "keys.update", { params: { ...acme, key: key.id }, body: { ...body } });
    expect((await change({ name: "mine" })).body).toMatchObject({ created_by: { id: heir }, limits: { rpm: 5 } });
    expect(await change({ limits: {} })).toMatchObject({ status: 403, param: "limits" });
  });

  test("also covers keys that another user created for them; that user keeps them", async () => {
    await using fixture = await openTenantFixture();
    const { member, newcomer, admin } = fixture.users;
    const { key, secret } = (await fixture.makeKey("admin", { name: "theirs", owner: member.id })).body;
    expect(await end(fixture, how)).toMatchObject({ status: 400, param: "keys" });
    await fixture.people.setMember(fixture.acme.id, newcomer.id, "member", { actor: "test", ip: null });
    const keys = { hand_over_to: newcomer.id };
    if (how === "leaving") {
      // A leaver may not pass on their spending, let alone a secret that they know.
      expect(await end(fixture, how, { keys })).toMatchObject({ status: 403, param: "keys.hand_over_to" });
      expect(await fixture.personOf(secret)).toBe(member.id);
    }
    expect((await end(fixture, how === "leaving" ? "removed from the workspace" : how, { keys })).status).toBe(200);
    expect(await fixture.personOf(secret)).toBe(newcomer.id);
    const shown = await fixture.call("admin", "keys.show", { params: { ...acme, key: key.id } });
    expect(shown.body).toMatchObject({ created_by: { id: admin.id }, owner: { id: newcomer.id } });
  });

  test.each(["viewer", "stranger", "member", "nobody"] as const)("rejects a transfer to a %s", async (who) => {
    await using fixture = await openTenantFixture();
    const { secret } = (await fixture.makeKey("member", { name: "ci" })).body;
    const heir = who === "nobody" ? "usr_none" : fixture.users[who].id;
    const refused = await end(fixture, how, { keys: { hand_over_to: heir } });
    expect(refused).toMatchObject({ status: 400, code: "invalid_request", param: "keys.hand_over_to" });
    expect(await fixture.authenticate(secret)).toStartWith("key_");
  });

  test("asks only when active keys exist; an empty body is enough then", async () => {
    await using fixture = await openTenantFixture();
    const { key } = (await fixture.makeKey("member", { name: "ci" })).body;
    await fixture.call("member", "keys.revoke", { params: { ...acme, key: key.id } });
    expect((await end(fixture, how)).status).toBe(200);
  });
});

describe.each(endings)("decisions about single keys of a user who is %s", (how) => {
  /** One key of each relation, the second one in use. */
  const relations = ["created and owned", "created", "owned"] as const;

  async function openWithKeys() {
    const fixture = await openTenantFixture();
    const { member, newcomer } = fixture.users;
    const both = (await fixture.makeKey("member", { name: relations[0], owner: member.id })).body;
    const created = (await fixture.makeKey("member", { name: relations[1] })).body;
    const owned = (await fixture.makeKey("admin", { name: relations[2], owner: member.id })).body;
    const other = (await fixture.makeKey("admin", { name: "neither" })).body;
    await fixture.people.setMember(fixture.acme.id, newcomer.id, "member", { actor: "test", ip: null });
    return { fixture, both, created, owned, other };
  }

  test("are carried out, and change exactly the keys that they name", async () => {
    const { fixture, both, created, owned, other } = await openWithKeys();
    await using _ = fixture;
    const to = { hand_over_to: fixture.users.newcomer.id };
    const keys = [
      { action: "revoke", keys: [both.key.id] },
      { action: to, keys: [created.key.id] },
      { action: "disable", keys: [owned.key.id] },
    ];
    expect((await end(fixture, how, { keys })).status).toBe(200);
    const states = [both, created, owned, other].map(({ secret }) => fixture.authenticate(secret));
    expect(await Promise.all(states)).toEqual(["revoked_api_key", created.key.id, "disabled_api_key", other.key.id]);
    const shown = await fixture.call("admin", "keys.show", { params: { ...acme, key: created.key.id } });
    expect(shown.body.created_by.id).toBe(fixture.users.newcomer.id);
    const changed = (await fixture.audit()).filter(({ object, action }) => /^key /.test(object) && action !== "create");
    expect(changed.map(({ object }) => object)).toEqual(relations.map((name) => `key acme/${name}`));
  });

  test("are refused and change nothing if they leave out a key, name another one, or one twice", async () => {
    const { fixture, both, created, owned, other } = await openWithKeys();
    await using _ = fixture;
    const all = [both.key.id, created.key.id, owned.key.id];
    for (const ids of [all.slice(1), [...all, other.key.id], [...all, both.key.id], [...all, "key_none"]]) {
      const refused = await end(fixture, how, { keys: [{ action: "revoke", keys: ids }] });
      expect(refused).toMatchObject({ status: 409, code: "conflict", param: "keys" });
    }
    const left = await end(fixture, how, { keys: [{ action: "revoke", keys: all.slice(1) }] });
    expect(left.body.error.message).toContain("acme/created and owned");
    for (const { secret, key } of [both, created, owned, other])
      expect(await fixture.authenticate(secret)).toBe(key.id);
    expect((await fixture.call("member", "keys.create", { params: acme, body: { name: "still" } })).status).toBe(201);
  });
});

describe("other traces of a leaver", () => {
  test("an unopened invitation does not bring them back", async () => {
    await using fixture = await openTenantFixture();
    const body = { email: "newcomer@example.com", role: "admin" } as const;
    const invited = await fixture.call("owner", "invitations.create", { params: acme, body });
    const token = /#invite=(.+)$/.exec(invited.body.link)?.[1] ?? "";
    const user = fixture.users.newcomer.id;
    // They became a member some other way and were removed again.
    await fixture.call("administrator", "members.update", { params: { ...acme, user }, body: { role: "member" } });
    await fixture.call("owner", "members.remove", { params: { ...acme, user } });
    expect((await fixture.call("newcomer", "invitation.accept", { body: { token } })).code).toBe("not_found");
  });

  test("a DELETE without a body equals one with an empty body", async () => {
    await using fixture = await openTenantFixture();
    const url = `http://gateway.test:8787/api/workspaces/acme/members/${fixture.users.member.id}`;
    const token = { name: "script", workspace: "acme", role: "admin" };
    const { secret } = (await fixture.call("owner", "tokens.create", { body: token })).body;
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    expect((await fixture.fetch(new Request(url, { method: "DELETE", headers }))).status).toBe(200);
  });

  test("a key created at the moment of removal is refused or covered by the decision", async () => {
    await using fixture = await openTenantFixture();
    for (let round = 0; round < 10; round++) {
      const auditSource = { actor: "test", ip: null };
      await fixture.people.setMember(fixture.acme.id, fixture.users.member.id, "member", auditSource);
      const [made] = await Promise.all([
        fixture.makeKey("member", { name: `key ${round}` }),
        end(fixture, "removed from the workspace", { keys: "revoke" }),
      ]);
      if (made.status === 201) expect(await fixture.authenticate(made.body.secret)).toBe("revoked_api_key");
    }
  });

  test("removing administrator rights asks about keys in workspaces where the user has no role", async () => {
    await using fixture = await openTenantFixture();
    const user = fixture.users.administrator.id;
    await fixture.call("administrator", "users.update", {
      params: { user: fixture.users.owner.id },
      body: { administrator: true },
    });
    const here = (await fixture.makeKey("administrator", { name: "here" })).body;
    await fixture.people.setMember(fixture.other.id, user, "member", { actor: "test", ip: null });
    const there = (await fixture.makeKey("administrator", { name: "there" }, "other")).body;
    const lower = (keys: object) =>
      fixture.call("owner", "users.update", { params: { user }, body: { administrator: false, ...keys } });
    expect(await lower({})).toMatchObject({ code: "missing_required_parameter", param: "keys" });
    expect((await lower({ keys: "revoke" })).status).toBe(200);
    expect(await fixture.authenticate(here.secret)).toBe("revoked_api_key");
    expect(await fixture.authenticate(there.secret)).toBe(there.key.id);
  });
});
