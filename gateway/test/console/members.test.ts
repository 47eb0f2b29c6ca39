import { expect, test } from "bun:test";
import { workspaceRoles } from "@sluice/contract";
import type { FixtureUser } from "../console-fixture.ts";
import { openPeopleFixture, type PeopleFixture } from "./people-fixture.ts";

const at = (fixture: PeopleFixture, name: FixtureUser, workspace = "acme") => ({
  workspace,
  user: fixture.users[name].id,
});
const setRole = (fixture: PeopleFixture, who: FixtureUser, name: FixtureUser, role: string, workspace = "acme") =>
  fixture.call(who, "members.update", { params: at(fixture, name, workspace), body: { role: role as "viewer" } });
const remove = (fixture: PeopleFixture, who: FixtureUser, name: FixtureUser) =>
  fixture.call(who, "members.remove", { params: at(fixture, name) });

test("an admin sets roles up to admin, an owner any role, and nobody raises their own", async () => {
  await using fixture = await openPeopleFixture();
  for (const role of workspaceRoles) {
    const byAdmin = await setRole(fixture, "admin", "viewer", role);
    expect([role, byAdmin.status]).toEqual([role, role === "owner" ? 403 : 200]);
    expect([role, (await setRole(fixture, "owner", "viewer", role)).body.role]).toEqual([role, role]);
    await setRole(fixture, "owner", "viewer", "viewer");
  }
  expect((await setRole(fixture, "admin", "admin", "owner")).code).toBe("forbidden");
  expect((await setRole(fixture, "admin", "owner", "viewer")).code).toBe("forbidden");
  expect((await setRole(fixture, "member", "member", "admin")).code).toBe("forbidden");
});

test("a new role applies to the next request", async () => {
  await using fixture = await openPeopleFixture();
  expect((await fixture.call("viewer", "invitations.list", { params: { workspace: "acme" } })).status).toBe(403);
  await setRole(fixture, "owner", "viewer", "admin");
  expect((await fixture.call("viewer", "invitations.list", { params: { workspace: "acme" } })).status).toBe(200);
});

test("members may leave, admins remove members, and owners remove owners, except the last one", async () => {
  await using fixture = await openPeopleFixture();
  expect((await remove(fixture, "member", "viewer")).code).toBe("forbidden");
  expect((await remove(fixture, "admin", "owner")).code).toBe("forbidden");
  expect((await remove(fixture, "owner", "owner")).code).toBe("conflict");
  expect((await setRole(fixture, "owner", "owner", "admin")).code).toBe("conflict");
  expect((await remove(fixture, "viewer", "viewer")).status).toBe(200);
  expect((await remove(fixture, "admin", "member")).status).toBe(200);
  expect((await fixture.call("viewer", "members.list", { params: { workspace: "acme" } })).status).toBe(404);
  expect((await remove(fixture, "administrator", "admin")).status).toBe(200);
});

test("returns 404 for users of another workspace, except to an administrator, who can add them", async () => {
  await using fixture = await openPeopleFixture();
  const missing = await fixture.call("owner", "members.update", {
    params: { workspace: "acme", user: "usr_nobody" },
    body: { role: "viewer" },
  });
  const stranger = await setRole(fixture, "owner", "stranger", "viewer");
  expect([stranger.status, stranger.body]).toEqual([404, missing.body]);
  expect((await remove(fixture, "owner", "stranger")).status).toBe(404);
  expect((await setRole(fixture, "stranger", "viewer", "viewer")).status).toBe(404);
  expect((await setRole(fixture, "administrator", "stranger", "owner")).body.role).toBe("owner");
  expect((await setRole(fixture, "administrator", "newcomer", "viewer", "other")).status).toBe(200);
});

test("rejects listing the members of all workspaces at once", async () => {
  await using fixture = await openPeopleFixture();
  const answer = await fixture.call("administrator", "members.list", { params: { workspace: "-" } });
  expect([answer.code, answer.param]).toEqual(["invalid_request", "workspace"]);
});

test("an admin limits members up to their own role; members and lower roles limit nobody", async () => {
  await using fixture = await openPeopleFixture();
  const budget = { usd: 20, period: "month" } as const;
  const limit = (who: FixtureUser, name: FixtureUser) =>
    fixture.call(who, "members.update", { params: at(fixture, name), body: { limits: { rpm: 9 }, budget } });
  const answers = [
    ["member", "member", 403],
    ["viewer", "member", 403],
    ["stranger", "member", 404],
    ["admin", "owner", 403],
    ["admin", "stranger", 404],
    ["administrator", "stranger", 404],
    ["admin", "member", 200],
    ["owner", "admin", 200],
    ["administrator", "owner", 200],
  ] as const;
  for (const [who, whom, status] of answers) {
    expect([who, whom, (await limit(who, whom)).status]).toEqual([who, whom, status]);
  }
  const { data } = (await fixture.call("admin", "members.list", { params: { workspace: "acme" } })).body;
  const shown = data.map((member: { email: string; limits: object; budget_used: number | null }) => [
    member.email,
    member.limits,
    member.budget_used,
  ]);
  expect(shown).toEqual([
    ["admin@example.com", { rpm: 9 }, 0],
    ["member@example.com", { rpm: 9 }, 0],
    ["owner@example.com", { rpm: 9 }, 0],
    ["viewer@example.com", {}, null],
  ]);
});
