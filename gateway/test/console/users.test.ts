import { expect, test } from "bun:test";
import { bounds, Failure } from "#core/index.ts";
import { wholeText } from "../conformance/store-fixture.ts";
import type { FixtureUser, Who } from "../console-fixture.ts";
import { testHash } from "../header-sign-in.ts";
import { openPeopleFixture, openSession, openSessions, type PeopleFixture, secretOf } from "./people-fixture.ts";

const password = "another horse battery";
const complete = (fixture: PeopleFixture, link: string, ip = "192.0.2.60") =>
  fixture.call("nobody", "reset.complete", { body: { token: secretOf(link), password }, ip });
const idOf = (fixture: PeopleFixture, name: FixtureUser) => ({ user: fixture.users[name].id });

test("lists users with their roles, and finds them by part of their address", async () => {
  await using fixture = await openPeopleFixture();
  const all = await fixture.call("administrator", "users.list", { query: { limit: 3 } });
  expect(all.body.data.map((user: { email: string }) => user.email)).toEqual([
    "admin@example.com",
    "administrator@example.com",
    "member@example.com",
  ]);
  const rest = await fixture.call("administrator", "users.list", { query: { cursor: all.body.next } });
  expect(rest.body.data.map((user: { name: string }) => user.name)).toEqual([
    "newcomer",
    "owner",
    "stranger",
    "viewer",
  ]);
  expect(rest.body.data[1]).toMatchObject({
    administrator: false,
    disabled: false,
    workspaces: [{ slug: "acme", role: "owner" }],
  });
  const { kysely } = fixture.database;
  const ids = [fixture.users.newcomer.id, fixture.users.owner.id] as const;
  const times = { version: 1, created_at: 5, updated_at: 9 };
  const names = { user_name: "n", name_key: null, external_id: null, attributes: "{}", deactivated: 0 };
  await kysely
    .insertInto("scim_users")
    .values([
      { user_id: ids[0], ...names, made: 1, removed_at: null, ...times },
      { user_id: ids[1], ...names, made: 0, removed_at: 7, ...times },
    ])
    .execute();
  const claims = { claims: "{}", rules_digest: "", refresh_token: null, received_at: 8, checked_at: 8 };
  await kysely
    .insertInto("person_claims")
    .values([
      { user_id: ids[0], source: "oidc:corp", ...claims },
      { user_id: ids[0], source: "scim", ...claims },
    ])
    .execute();
  const again = await fixture.call("administrator", "users.list", { query: { cursor: all.body.next } });
  expect(again.body.data.slice(0, 2).map((user: { sources: object }) => user.sources)).toEqual([
    [
      { source: "scim", made: true, since: 5 },
      { source: "oidc:corp", made: false, since: 8 },
    ],
    [],
  ]);
  const found = await fixture.call("administrator", "users.list", { query: { search: "STRANGE" } });
  expect(found.body.data).toHaveLength(1);
  expect((await fixture.call("administrator", "users.list", { query: { cursor: "%%" } })).param).toBe("cursor");
});

test("sorts all users by what they spent this month", async () => {
  await using fixture = await openPeopleFixture();
  fixture.spends.push({ personId: fixture.users.viewer.id, usd: 2 }, { personId: fixture.users.owner.id, usd: 9.5 });
  const first = await fixture.call("administrator", "users.list", { query: { sort: "-spend", limit: 1 } });
  expect(first.body.data).toMatchObject([{ name: "owner", spend_usd: 9.5 }]);
  const query = { sort: "-spend", limit: 2, cursor: first.body.next } as const;
  const { body } = await fixture.call("administrator", "users.list", { query });
  expect(body.data).toMatchObject([{ name: "viewer", spend_usd: 2 }, { spend_usd: 0 }]);
});

test("lists users without their spend while reports fail, but does not sort by it", async () => {
  await using fixture = await openPeopleFixture({ reports: "unavailable" });
  const { status, body } = await fixture.call("administrator", "users.list", { query: { limit: 1 } });
  expect([status, body.data[0].spend_usd]).toEqual([200, null]);
  const sorted = await fixture.call("administrator", "users.list", { query: { sort: "-spend" } });
  expect([sorted.status, sorted.code]).toEqual([503, "draining"]);
});

test("a change of rights ends earlier sessions; one that changes nothing does not", async () => {
  await using fixture = await openPeopleFixture();
  const { id } = fixture.users.viewer;
  const sessions = async () => (await openSessions(fixture)).filter((each) => each === id).length;
  const update = (body: object) =>
    fixture.call("administrator", "users.update", { params: idOf(fixture, "viewer"), body });
  expect((await update({})).body).toMatchObject({ administrator: false, disabled: false });
  expect((await update({ administrator: false })).status).toBe(200);
  await openSession(fixture, id);
  expect((await update({ administrator: false })).status).toBe(200);
  expect(await sessions()).toBe(1);
  for (const change of [{ administrator: true }, { administrator: false }, { disabled: true }, { disabled: false }]) {
    await openSession(fixture, id);
    expect((await update(change)).body).toMatchObject(change);
    expect(await sessions(), JSON.stringify(change)).toBe(0);
  }
  expect((await update({ name: "x" })).code).toBe("invalid_request");
});

test("a disabled user is refused at once, with a session or a token", async () => {
  await using fixture = await openPeopleFixture();
  const made = await fixture.call("owner", "tokens.create", { body: { name: "ci", workspace: "acme", role: "owner" } });
  const { secret } = made.body;
  expect((await fixture.call({ token: secret }, "members.list", { params: { workspace: "acme" } })).status).toBe(200);
  await fixture.call("administrator", "users.update", { params: idOf(fixture, "owner"), body: { disabled: true } });
  for (const who of ["owner", { token: secret }] as const) {
    expect((await fixture.call(who, "members.list", { params: { workspace: "acme" } })).status).toBe(401);
  }
});

test("the last administrator cannot be removed or demoted", async () => {
  await using fixture = await openPeopleFixture();
  const params = idOf(fixture, "administrator");
  for (const body of [{ administrator: false }, { disabled: true }]) {
    expect((await fixture.call("administrator", "users.update", { params, body })).code).toBe("conflict");
  }
  expect((await fixture.call("administrator", "users.remove", { params })).code).toBe("conflict");
  await fixture.call("administrator", "users.update", {
    params: idOf(fixture, "owner"),
    body: { administrator: true },
  });
  const demoted = await fixture.call("administrator", "users.update", { params, body: { administrator: false } });
  expect(demoted.status).toBe(200);
  expect((await fixture.call("administrator", "users.list")).status).toBe(403);
});

test("removing a user removes everything they held, and a workspace keeps its last owner", async () => {
  await using fixture = await openPeopleFixture();
  const remove = (name: FixtureUser) => fixture.call("administrator", "users.remove", { params: idOf(fixture, name) });
  const owner = await remove("owner");
  expect([owner.status, owner.code]).toEqual([409, "conflict"]);
  expect(owner.body.error.message).toContain("acme");
  await fixture.people.setMember(fixture.acme.id, fixture.users.admin.id, "owner", { actor: "test", ip: null });
  expect((await remove("owner")).status).toBe(200);
  expect(await fixture.people.user(fixture.users.owner.id)).toBeNull();
  expect((await remove("owner")).code).toBe("not_found");
  expect((await fixture.call("owner", "members.list", { params: { workspace: "acme" } })).status).toBe(401);
});

test("a reset link sets a new password once, within a day, and ends the sessions", async () => {
  await using fixture = await openPeopleFixture();
  const { viewer, owner } = fixture.users;
  for (const { id } of [viewer, viewer, owner]) await openSession(fixture, id);
  const reset = () => fixture.call("administrator", "users.reset", { params: idOf(fixture, "viewer") });
  const first = (await reset()).body;
  expect(first.link).toStartWith("http://localhost:8787/console/#reset=");
  expect(first.expires_at - fixture.clock.now()).toBe(bounds.passwordResetMs);
  const second = (await reset()).body;
  expect((await complete(fixture, first.link)).status).toBe(404);
  expect((await complete(fixture, second.link)).body).toEqual({ email: viewer.email });
  expect(await openSessions(fixture)).toEqual([owner.id]);
  const { kysely } = fixture.database;
  const stored = kysely.selectFrom("auth_accounts").select("password").where("user_id", "=", viewer.id);
  expect(await stored.executeTakeFirst()).toEqual({ password: testHash(password) });
  expect((await complete(fixture, second.link)).status).toBe(404);
  const late = (await reset()).body;
  fixture.clock.advance(bounds.passwordResetMs);
  expect((await complete(fixture, late.link)).status).toBe(404);
});

test("sets one password when a reset link is used twice at the same moment", async () => {
  await using fixture = await openPeopleFixture();
  const { link } = (await fixture.call("administrator", "users.reset", { params: idOf(fixture, "viewer") })).body;
  const both = await Promise.all([complete(fixture, link), complete(fixture, link, "192.0.2.61")]);
  expect(both.map((each) => each.status).toSorted()).toEqual([200, 404]);
});

test("a failed reset keeps its link valid, and a disabled user's link is refused", async () => {
  await using fixture = await openPeopleFixture();
  const params = idOf(fixture, "viewer");
  const { link } = (await fixture.call("administrator", "users.reset", { params })).body;
  const { hashPassword } = fixture.signIn;
  fixture.signIn.hashPassword = () => Promise.reject(new Failure("rate_limit_exceeded", "Too many sign-ins at once."));
  expect((await complete(fixture, link)).code).toBe("rate_limit_exceeded");
  fixture.signIn.hashPassword = hashPassword;
  expect((await complete(fixture, link)).status).toBe(200);
  const again = (await fixture.call("administrator", "users.reset", { params })).body;
  await fixture.call("administrator", "users.update", { params, body: { disabled: true } });
  expect((await complete(fixture, again.link)).status).toBe(404);
  expect((await fixture.call("administrator", "users.reset", { params })).code).toBe("conflict");
});

test("a user who is enabled again cannot use a reset link from before", async () => {
  await using fixture = await openPeopleFixture();
  const params = idOf(fixture, "viewer");
  const { link } = (await fixture.call("administrator", "users.reset", { params })).body;
  for (const disabled of [true, false]) {
    expect((await fixture.call("administrator", "users.update", { params, body: { disabled } })).status).toBe(200);
  }
  expect((await complete(fixture, link)).status).toBe(404);
});

test("another administrator resets a second factor, passkeys only on request", async () => {
  await using fixture = await openPeopleFixture();
  const { viewer, member } = fixture.users;
  const { kysely } = fixture.database;
  const passkey = { public_key: "k", credential_id: "", counter: 0, device_type: "singleDevice", backed_up: 0 };
  await kysely.updateTable("auth_users").set({ two_factor_enabled: 1 }).where("id", "=", viewer.id).execute();
  for (const user_id of [viewer.id, member.id]) {
    passkey.credential_id = user_id;
    await kysely
      .insertInto("auth_passkeys")
      .values({ ...passkey, id: `pk_${user_id}`, user_id })
      .execute();
  }
  const last = (await fixture.audit()).at(-1)?.seq ?? 0;
  const reset = (user: string, body: object = {}, who: Who = "administrator") =>
    fixture.call(who, "users.resetSecondFactor", { params: { user }, body });
  expect((await reset(viewer.id, {}, { stale: "administrator" })).code).toBe("confirm_sign_in");
  expect((await reset(fixture.users.administrator.id)).code).toBe("conflict");
  expect((await reset("usr_none")).code).toBe("not_found");
  expect((await reset(viewer.id, { passkeys: "yes" })).param).toBe("passkeys");
  const onlyPasskeys = await reset(member.id);
  expect([onlyPasskeys.status, onlyPasskeys.body.error.message]).toEqual([
    409,
    `${member.email} has no authenticator app. Set \`passkeys\` to remove their passkeys.`,
  ]);
  expect((await reset(viewer.id)).body).toMatchObject({ two_factor: false, passkeys: 1 });
  expect((await reset(viewer.id, { passkeys: true })).body).toMatchObject({ two_factor: false, passkeys: 0 });
  expect((await reset(viewer.id, { passkeys: true })).code).toBe("conflict");
  const left = await kysely.selectFrom("auth_passkeys").select("user_id").execute();
  expect(left).toEqual([{ user_id: member.id }]);
  const rows = await fixture.audit(last);
  expect(rows.map((row) => `${row.action} ${row.object}`)).toEqual(
    Array(2).fill(`remove second factor ${viewer.email}`),
  );
  expect([JSON.parse(rows[0]?.before ?? ""), JSON.parse(rows[0]?.after ?? "")]).toMatchObject([
    { two_factor: true, passkeys: 1 },
    { two_factor: false, passkeys: 1 },
  ]);
});

test("administrators' changes to users are in the audit log with before and after, without secrets", async () => {
  await using fixture = await openPeopleFixture();
  const last = (await fixture.audit()).at(-1)?.seq ?? 0;
  const params = idOf(fixture, "viewer");
  await fixture.call("administrator", "users.update", { params, body: { disabled: true }, ip: "198.51.100.1" });
  await fixture.call("administrator", "users.update", { params, body: { disabled: false } });
  const { link } = (await fixture.call("administrator", "users.reset", { params })).body;
  await complete(fixture, link);
  await fixture.call("administrator", "users.remove", { params });
  const rows = await fixture.audit(last);
  expect(rows.map((row) => `${row.actor} ${row.action} ${row.object}`)).toEqual([
    "administrator@example.com update user viewer@example.com",
    "administrator@example.com update user viewer@example.com",
    "administrator@example.com create password reset viewer@example.com",
    "viewer@example.com reset-password user viewer@example.com",
    "administrator@example.com remove user viewer@example.com",
  ]);
  const [first] = rows;
  expect(first?.ip).toBe("198.51.100.1");
  expect([JSON.parse(first?.before ?? "").disabled, JSON.parse(first?.after ?? "").disabled]).toEqual([false, true]);
  const text = await wholeText(fixture.database);
  expect(text).not.toContain(secretOf(link));
  expect(text).not.toContain(password);
});
