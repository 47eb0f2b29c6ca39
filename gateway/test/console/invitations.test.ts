import { expect, test } from "bun:test";
import { workspaceRoles } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import { wholeText } from "../conformance/store-fixture.ts";
import { openPeopleFixture, openSession, openSessions, secretOf } from "./people-fixture.ts";

const acme = { workspace: "acme" };

test("an invitation gives a new user its role and works once", async () => {
  await using fixture = await openPeopleFixture();
  const made = await fixture.invite("admin", "New@Example.com", "member");
  expect([made.status, made.body.email, made.body.role, made.body.mailed]).toEqual([
    201,
    "new@example.com",
    "member",
    false,
  ]);
  expect(made.body.link).toStartWith("http://localhost:8787/console/#invite=");
  const preview = await fixture.preview(made.body.link);
  expect(preview.body).toMatchObject({
    email: "new@example.com",
    workspace: { slug: "acme", name: "Acme" },
    invited_by: { email: "admin@example.com" },
    has_account: false,
  });
  const accepted = await fixture.accept(made.body.link);
  expect([accepted.status, accepted.body]).toEqual([201, { email: "new@example.com" }]);
  const members = await fixture.call("viewer", "members.list", { params: acme });
  expect(members.body.data).toContainEqual(expect.objectContaining({ email: "new@example.com", role: "member" }));
  expect((await fixture.accept(made.body.link)).status).toBe(404);
  expect((await fixture.preview(made.body.link)).status).toBe(404);
});

test("an invitation fails when its sender loses the right to invite while the password is being stored", async () => {
  await using fixture = await openPeopleFixture();
  const { link } = (await fixture.invite("admin", "new@example.com", "admin")).body;
  const { prepareUser } = fixture.signIn;
  fixture.signIn.prepareUser = async (user) => {
    const prepared = await prepareUser(user);
    await fixture.people.setMember(fixture.acme.id, fixture.users.admin.id, "member", { actor: "test", ip: null });
    return prepared;
  };
  expect((await fixture.accept(link)).status).toBe(404);
  expect(await fixture.people.userByEmail("new@example.com")).toBeNull();
});

test("only admins invite, up to their own role", async () => {
  await using fixture = await openPeopleFixture();
  for (const role of workspaceRoles) {
    const by = async (who: "member" | "admin" | "owner" | "administrator") =>
      (await fixture.invite(who, `${who}-${role}@example.com`, role)).status;
    expect([role, await by("member")]).toEqual([role, 403]);
    expect([role, await by("admin")]).toEqual([role, role === "owner" ? 403 : 201]);
    expect([role, await by("owner"), await by("administrator")]).toEqual([role, 201, 201]);
  }
});

test("rejects an invitation for an existing member or administrator", async () => {
  await using fixture = await openPeopleFixture();
  const member = await fixture.invite("owner", "VIEWER@example.com");
  expect([member.status, member.code, member.param]).toEqual([409, "conflict", "email"]);
  const body = { email: "administrator@example.com" };
  expect((await fixture.call("administrator", "invitations.inviteAdministrator", { body })).code).toBe("conflict");
});

test("an administrator invites another one", async () => {
  await using fixture = await openPeopleFixture();
  const made = await fixture.call("administrator", "invitations.inviteAdministrator", {
    body: { email: "x@example.com" },
  });
  expect(made.body).toMatchObject({ administrator: true, workspace: null, role: null });
  expect((await fixture.accept(made.body.link)).status).toBe(201);
  expect(await fixture.people.userByEmail("x@example.com")).toMatchObject({ administrator: true });
  expect((await fixture.call("administrator", "invitations.administrators")).body.data).toEqual([]);
});

test("a user with an account accepts with their own session, and nobody accepts for them", async () => {
  await using fixture = await openPeopleFixture();
  const { link } = (await fixture.invite("admin", "newcomer@example.com")).body;
  expect((await fixture.preview(link)).body.has_account).toBe(true);
  expect((await fixture.accept(link)).code).toBe("not_signed_in");
  expect((await fixture.accept(link, "stranger")).code).toBe("forbidden");
  expect((await fixture.accept(link, "administrator")).code).toBe("forbidden");
  expect((await fixture.accept(link, "newcomer")).status).toBe(201);
  expect((await fixture.people.rightsOf(fixture.users.newcomer.id))?.roles.get(fixture.acme.id)).toBe("member");
});

test("accepting requires a recent sign-in, and sessions from before do not gain the new role", async () => {
  await using fixture = await openPeopleFixture();
  const { id } = fixture.users.newcomer;
  const sessions = async () => (await openSessions(fixture)).filter((each) => each === id).length;
  // One session of the test's browser, and one of another browser.
  for (const session of [`ses_${id}`, "ses_elsewhere"]) await openSession(fixture, id, session);
  const member = (await fixture.invite("admin", "newcomer@example.com")).body.link;
  expect((await fixture.accept(member, { stale: "newcomer" })).code).toBe("confirm_sign_in");
  expect(await sessions()).toBe(2);
  expect((await fixture.accept(member, "newcomer")).status).toBe(201);
  expect(await sessions()).toBe(1);
  const body = { email: "newcomer@example.com" };
  const administrator = (await fixture.call("administrator", "invitations.inviteAdministrator", { body })).body.link;
  expect((await fixture.accept(administrator, { stale: "newcomer" })).code).toBe("confirm_sign_in");
  expect((await fixture.accept(administrator, "newcomer")).status).toBe(201);
  expect(await sessions()).toBe(0);
});

test("a higher role ends the user's sessions, a lower one does not", async () => {
  await using fixture = await openPeopleFixture();
  const { id } = fixture.users.member;
  const give = (role: "viewer" | "member" | "admin" | "owner") =>
    fixture.call("owner", "members.update", { params: { workspace: "acme", user: id }, body: { role } });
  for (const [role, left] of [
    ["admin", 0],
    ["viewer", 1],
    ["member", 0],
    ["member", 1],
  ] as const) {
    await openSession(fixture, id);
    await give(role);
    const mine = (await openSessions(fixture)).filter((each) => each === id);
    expect([role, mine.length]).toEqual([role, left]);
    await fixture.database.kysely.deleteFrom("auth_sessions").execute();
  }
});

test("a new account requires a name and a password of at least twelve characters", async () => {
  await using fixture = await openPeopleFixture();
  const token = secretOf((await fixture.invite("admin", "new@example.com")).body.link);
  const accept = (body: object) => fixture.call("nobody", "invitation.accept", { body: { token, ...body } });
  const noName = await accept({ password: "correct horse battery" });
  expect([noName.code, noName.param]).toEqual(["missing_required_parameter", "name"]);
  expect((await accept({ name: "New" })).param).toBe("password");
  expect((await accept({ name: "New", password: "short" })).param).toBe("password");
  expect((await accept({ name: "New", password: "correct horse battery", role: "owner" })).code).toBe(
    "invalid_request",
  );
  expect(await fixture.people.userByEmail("new@example.com")).toBeNull();
});

test("creates one user when one link is accepted twice at the same moment", async () => {
  await using fixture = await openPeopleFixture();
  const { link } = (await fixture.invite("admin", "new@example.com")).body;
  const both = await Promise.all([fixture.accept(link), fixture.accept(link)]);
  expect(both.map((each) => each.status).filter((status) => status === 201)).toHaveLength(1);
  expect((await fixture.people.listUsers({ search: "new@example.com" }, null, 9)).data).toHaveLength(1);
});

test("an invitation expires after seven days, or when its sender loses the right to send it", async () => {
  await using fixture = await openPeopleFixture();
  const { people, users, acme: place } = fixture;
  const old = (await fixture.invite("admin", "old@example.com")).body;
  expect(old.expires_at - fixture.clock.now()).toBe(bounds.invitationMs);
  fixture.clock.advance(bounds.invitationMs - 1);
  expect((await fixture.preview(old.link)).status).toBe(200);
  const young = (await fixture.invite("admin", "young@example.com")).body;
  fixture.clock.advance(1);
  expect((await fixture.preview(old.link)).status).toBe(404);
  expect((await fixture.preview(young.link)).status).toBe(200);
  await people.setMember(place.id, users.admin.id, "member", { actor: "test", ip: null });
  expect((await fixture.preview(young.link)).status).toBe(404);
  expect((await fixture.accept(young.link)).status).toBe(404);
});

test("admins of the workspace revoke an invitation; for others it returns 404", async () => {
  await using fixture = await openPeopleFixture();
  const { id, link } = (await fixture.invite("owner", "new@example.com", "owner")).body;
  const revoke = async (who: "viewer" | "admin" | "owner" | "stranger" | "newcomer") =>
    (await fixture.call(who, "invitations.revoke", { params: { invitation: id } })).status;
  expect([await revoke("stranger"), await revoke("newcomer")]).toEqual([404, 404]);
  expect([await revoke("viewer"), await revoke("admin")]).toEqual([403, 403]);
  expect([await revoke("owner"), await revoke("owner")]).toEqual([200, 404]);
  expect((await fixture.preview(link)).status).toBe(404);
});

test("answers every invalid link the same way, and stops guessing after ten attempts", async () => {
  await using fixture = await openPeopleFixture();
  const used = (await fixture.invite("admin", "used@example.com")).body.link;
  await fixture.accept(used);
  const good = (await fixture.invite("admin", "good@example.com")).body.link;
  const used404 = (await fixture.preview(used, "198.51.100.7")).body;
  expect((await fixture.preview("never-was", "198.51.100.7")).body).toEqual(used404);
  const reset = { token: "never-was", password: "correct horse battery" };
  expect((await fixture.call("nobody", "reset.complete", { body: reset, ip: "198.51.100.7" })).body).toEqual(used404);
  for (let tries = 3; tries < bounds.setupTriesMax; tries++) await fixture.preview("guess", "198.51.100.7");
  const refused = await fixture.preview(good, "198.51.100.7");
  expect([refused.status, refused.code]).toEqual([429, "rate_limit_exceeded"]);
  expect(refused.headers.get("retry-after")).toBe("900");
  for (let tries = 0; tries < 2 * bounds.setupTriesMax; tries++) {
    expect((await fixture.preview(good, "198.51.100.8")).status).toBe(200);
  }
  // An IPv6 address counts as its whole network.
  for (let tries = 0; tries < bounds.setupTriesMax; tries++) await fixture.preview("guess", `2001:db8::${tries}`);
  expect((await fixture.preview(good, "2001:db8::ffff")).status).toBe(429);
  expect((await fixture.preview(good, "2001:db8:0:1::1")).status).toBe(200);
});

test("the link has the public URL, and is mailed if a mail server is configured", async () => {
  await using fixture = await openPeopleFixture({ publicUrl: "https://ai.example.com/", mail: "sent" });
  const { body } = await fixture.invite("admin", "new@example.com");
  expect(body.link).toStartWith("https://ai.example.com/console/#invite=");
  expect(body.mailed).toBe(true);
  expect(fixture.mails).toEqual([
    { to: ["new@example.com"], subject: "Invitation to Acme", text: expect.stringContaining(body.link) },
  ]);
});

test("an invitation stays valid when its mail is refused, and the answer reports the failure", async () => {
  await using fixture = await openPeopleFixture({ mail: "refused" });
  const { status, body } = await fixture.invite("admin", "new@example.com");
  expect([status, body.mailed]).toEqual([201, false]);
  expect((await fixture.preview(body.link)).status).toBe(200);
});

test("invitations leave audit rows, and the link's secret is stored nowhere", async () => {
  await using fixture = await openPeopleFixture();
  const last = (await fixture.audit()).at(-1)?.seq ?? 0;
  const { link, id } = (await fixture.invite("admin", "new@example.com")).body;
  const gone = (await fixture.invite("admin", "gone@example.com")).body;
  await fixture.call("admin", "invitations.revoke", { params: { invitation: gone.id } });
  await fixture.accept(link);
  const rows = await fixture.audit(last);
  expect(rows.map((row) => [row.actor, row.action, row.object, row.workspace_id === fixture.acme.id])).toEqual([
    ["admin@example.com", "create", "invitation acme/new@example.com", true],
    ["admin@example.com", "create", "invitation acme/gone@example.com", true],
    ["admin@example.com", "revoke", "invitation acme/gone@example.com", true],
    ["new@example.com", "create", "user new@example.com", false],
    ["new@example.com", "remove", "invitation acme/new@example.com", true],
    ["new@example.com", "create", "member acme/new@example.com", true],
  ]);
  expect(JSON.parse(rows[0]?.after ?? "")).toMatchObject({ id, role: "member", administrator: false });
  const text = await wholeText(fixture.database);
  expect(text).not.toContain(secretOf(link));
  expect(text).not.toContain("correct horse battery");
});

test("a workspace that has sent too many mails invites without one: its admin passes on the link", async () => {
  const keys: string[] = [];
  const tries = { giveBack: async () => {}, forget: async () => {} };
  const full = async (asked: readonly string[]) => ({ waitMs: keys.push(...asked), isLast: false });
  await using fixture = await openPeopleFixture({ mail: "sent", openTries: () => ({ ...tries, take: full }) });
  const { status, body } = await fixture.invite("admin", "new@example.com");
  expect([status, body.mailed, fixture.mails]).toEqual([201, false, []]);
  expect(body.link).toContain("#invite=");
  await fixture.call("administrator", "invitations.inviteAdministrator", { body: { email: "x@example.com" } });
  expect(keys).toEqual([fixture.acme.id, "installation"]);
});

test("treats spellings of one address as equal, and rejects addresses that only look alike", async () => {
  await using fixture = await openPeopleFixture();
  for (const email of [
    "\u212Aate@example.com",
    "kat\u0435@example.com",
    "stra\u00DFe@example.com",
    "\u0130da@example.com",
  ]) {
    expect([email, (await fixture.invite("admin", email)).param]).toEqual([email, "email"]);
  }
  for (const email of ["kate@example.com\r\nBcc: x@example.com", "a@b.example, c@d.example", '"a b"@example.com']) {
    expect([email, (await fixture.invite("admin", email)).param]).toEqual([email, "email"]);
  }
  const first = (await fixture.invite("admin", "Kate@Example.com")).body;
  const second = (await fixture.invite("admin", "kATE@example.COM")).body;
  expect([first.email, second.email]).toEqual(["kate@example.com", "kate@example.com"]);
  expect((await fixture.preview(first.link)).status).toBe(404);
  expect((await fixture.accept(second.link)).body).toEqual({ email: "kate@example.com" });
  expect((await fixture.invite("admin", "KATE@example.com")).code).toBe("conflict");
});

test("without a configured URL a link points to this machine, whatever the Host header contains", async () => {
  await using fixture = await openPeopleFixture({ mail: "sent" });
  const body = { name: "script", workspace: "acme", role: "admin" } as const;
  const { secret } = (await fixture.call("owner", "tokens.create", { body })).body;
  const answer = await fixture.fetch(
    new Request("http://evil.example:8787/api/workspaces/acme/invitations", {
      method: "POST",
      headers: { host: "evil.example:8787", authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ email: "new@example.com", role: "member" }),
    }),
  );
  const { link } = (await answer.json()) as { link: string };
  expect(link).toStartWith("http://localhost:8787/console/#invite=");
  expect(fixture.mails[0]?.text).not.toContain("evil");
});
