import { describe, expect, test } from "bun:test";
import { openTenantGround, type TenantGround } from "./tenant-ground.ts";

const acme = { workspace: "acme" };

/** Ways to stop being a key manager. */
const endings = ["removed from the workspace", "leaving", "removed", "disabled", "removed as token"] as const;

async function end(ground: TenantGround, how: (typeof endings)[number], body: object = {}) {
  const user = ground.users.member.id;
  if (how === "removed")
    return await ground.call("administrator", "users.remove", { params: { user }, body: { ...body } });
  if (how === "disabled") {
    return await ground.call("administrator", "users.update", { params: { user }, body: { disabled: true, ...body } });
  }
  const params = { ...acme, user };
  if (how === "leaving") return await ground.call("member", "members.remove", { params, body: { ...body } });
  if (how === "removed from the workspace")
    return await ground.call("admin", "members.remove", { params, body: { ...body } });
  const token = { name: "script", workspace: "acme", role: "admin" };
  const { secret } = (await ground.call("owner", "tokens.create", { body: token })).body;
  return await ground.call({ token: secret }, "members.remove", { params, body: { ...body } });
}

describe.each(endings)("keys of a user who is %s", (how) => {
  test("rejects removal until the keys have a new owner or end", async () => {
    await using ground = await openTenantGround();
    const { secret } = (await ground.makeKey("member", { name: "ci" })).body;
    const refused = await end(ground, how);
    expect(refused).toMatchObject({ status: 400, code: "missing_required_parameter", param: "keys" });
    expect(refused.body.error.message).toContain("acme/ci");
    expect(await ground.authenticate(secret)).toStartWith("key_");
    expect((await ground.call("member", "keys.create", { params: acme, body: { name: "another" } })).status).toBe(201);
  });

  test("revokes all their secrets at once, with an audit row for each key", async () => {
    await using ground = await openTenantGround();
    const one = (await ground.makeKey("member", { name: "one" })).body;
    const two = (await ground.makeKey("member", { name: "two" })).body;
    const of = (await ground.makeKey("admin", { name: "of the admin" })).body;
    const params = { ...acme, key: two.key.id };
    const turned = (await ground.call("member", "keys.rotate", { params, body: { grace_seconds: 3_600 } })).body;
    const secrets = [one.secret, two.secret, turned.secret];
    for (const secret of secrets) expect(await ground.authenticate(secret)).toStartWith("key_");
    expect((await end(ground, how, { keys: "revoke" })).status).toBe(200);
    for (const secret of secrets) expect(await ground.authenticate(secret)).not.toStartWith("key_");
    expect(await ground.authenticate(of.secret)).toBe(of.key.id);
    const rows = (await ground.audit()).filter(({ action }) => action === "revoke").map(({ object }) => object);
    expect(rows).toEqual(["key acme/one", "key acme/two"]);
  });

  test("keeps keys disabled until an admin enables them", async () => {
    await using ground = await openTenantGround();
    const { key, secret } = (await ground.makeKey("member", { name: "ci" })).body;
    expect((await end(ground, how, { keys: "disable" })).status).toBe(200);
    expect(await ground.authenticate(secret)).toBe("disabled_api_key");
    const enable = { params: { ...acme, key: key.id }, body: { enabled: true } };
    expect((await ground.call("member", "keys.update", enable)).status).not.toBe(200);
    expect((await ground.call("admin", "keys.update", enable)).status).toBe(200);
    expect(await ground.authenticate(secret)).toBe(key.id);
  });

  test("transfers keys to another user within the limits that were set on them", async () => {
    await using ground = await openTenantGround();
    const { key, secret } = (await ground.makeKey("member", { name: "ci", limits: { rpm: 5 } })).body;
    const heir = ground.users.newcomer.id;
    await ground.people.setMember(ground.acme.id, heir, "member", { actor: "test", ip: null });
    expect((await end(ground, how, { keys: { hand_over_to: heir } })).status).toBe(200);
    expect(await ground.authenticate(secret)).toBe(key.id);
    const change = (body: object) =>
      ground.call("newcomer", "keys.update", { params: { ...acme, key: key.id }, body: { ...body } });
    expect((await change({ name: "mine" })).body).toMatchObject({ created_by: { id: heir }, limits: { rpm: 5 } });
    expect(await change({ limits: {} })).toMatchObject({ status: 403, param: "limits" });
  });

  test("also covers keys that another user created for them; that user keeps them", async () => {
    await using ground = await openTenantGround();
    const { member, newcomer, admin } = ground.users;
    const { key, secret } = (await ground.makeKey("admin", { name: "theirs", owner: member.id })).body;
    expect(await end(ground, how)).toMatchObject({ status: 400, param: "keys" });
    await ground.people.setMember(ground.acme.id, newcomer.id, "member", { actor: "test", ip: null });
    const keys = { hand_over_to: newcomer.id };
    if (how === "leaving") {
      // A leaver may not pass on their spending, let alone a secret that they know.
      expect(await end(ground, how, { keys })).toMatchObject({ status: 403, param: "keys.hand_over_to" });
      expect(await ground.personOf(secret)).toBe(member.id);
    }
    expect((await end(ground, how === "leaving" ? "removed from the workspace" : how, { keys })).status).toBe(200);
    expect(await ground.personOf(secret)).toBe(newcomer.id);
    const shown = await ground.call("admin", "keys.show", { params: { ...acme, key: key.id } });
    expect(shown.body).toMatchObject({ created_by: { id: admin.id }, owner: { id: newcomer.id } });
  });

  test.each(["viewer", "stranger", "member", "nobody"] as const)("rejects a transfer to a %s", async (who) => {
    await using ground = await openTenantGround();
    const { secret } = (await ground.makeKey("member", { name: "ci" })).body;
    const heir = who === "nobody" ? "usr_none" : ground.users[who].id;
    const refused = await end(ground, how, { keys: { hand_over_to: heir } });
    expect(refused).toMatchObject({ status: 400, code: "invalid_request", param: "keys.hand_over_to" });
    expect(await ground.authenticate(secret)).toStartWith("key_");
  });

  test("asks only when active keys exist; an empty body is enough then", async () => {
    await using ground = await openTenantGround();
    const { key } = (await ground.makeKey("member", { name: "ci" })).body;
    await ground.call("member", "keys.revoke", { params: { ...acme, key: key.id } });
    expect((await end(ground, how)).status).toBe(200);
  });
});

describe("other traces of a leaver", () => {
  test("an unopened invitation does not bring them back", async () => {
    await using ground = await openTenantGround();
    const body = { email: "newcomer@example.com", role: "admin" } as const;
    const invited = await ground.call("owner", "invitations.create", { params: acme, body });
    const token = /#invite=(.+)$/.exec(invited.body.link)?.[1] ?? "";
    const user = ground.users.newcomer.id;
    // They became a member some other way and were removed again.
    await ground.call("administrator", "members.update", { params: { ...acme, user }, body: { role: "member" } });
    await ground.call("owner", "members.remove", { params: { ...acme, user } });
    expect((await ground.call("newcomer", "invitation.accept", { body: { token } })).code).toBe("not_found");
  });

  test("a DELETE without a body equals one with an empty body", async () => {
    await using ground = await openTenantGround();
    const url = `http://gateway.test:8787/api/workspaces/acme/members/${ground.users.member.id}`;
    const token = { name: "script", workspace: "acme", role: "admin" };
    const { secret } = (await ground.call("owner", "tokens.create", { body: token })).body;
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    expect((await ground.fetch(new Request(url, { method: "DELETE", headers }))).status).toBe(200);
  });

  test("a key created at the moment of removal is refused or covered by the decision", async () => {
    await using ground = await openTenantGround();
    for (let round = 0; round < 10; round++) {
      const auditSource = { actor: "test", ip: null };
      await ground.people.setMember(ground.acme.id, ground.users.member.id, "member", auditSource);
      const [made] = await Promise.all([
        ground.makeKey("member", { name: `key ${round}` }),
        end(ground, "removed from the workspace", { keys: "revoke" }),
      ]);
      if (made.status === 201) expect(await ground.authenticate(made.body.secret)).toBe("disabled_api_key");
    }
  });

  test("removing administrator rights asks about keys in workspaces where the user has no role", async () => {
    await using ground = await openTenantGround();
    const user = ground.users.administrator.id;
    await ground.call("administrator", "users.update", {
      params: { user: ground.users.owner.id },
      body: { administrator: true },
    });
    const here = (await ground.makeKey("administrator", { name: "here" })).body;
    await ground.people.setMember(ground.other.id, user, "member", { actor: "test", ip: null });
    const there = (await ground.makeKey("administrator", { name: "there" }, "other")).body;
    const lower = (keys: object) =>
      ground.call("owner", "users.update", { params: { user }, body: { administrator: false, ...keys } });
    expect(await lower({})).toMatchObject({ code: "missing_required_parameter", param: "keys" });
    expect((await lower({ keys: "revoke" })).status).toBe(200);
    expect(await ground.authenticate(here.secret)).toBe("disabled_api_key");
    expect(await ground.authenticate(there.secret)).toBe(there.key.id);
  });
});
