import { expect, test } from "bun:test";
import { workspaceRoles } from "@sluice/contract";
import type { GroundUser } from "../console-ground.ts";
import { openPeopleGround, type PeopleGround } from "./people-ground.ts";

const at = (ground: PeopleGround, name: GroundUser, workspace = "acme") => ({
  workspace,
  user: ground.users[name].id,
});
const setRole = (ground: PeopleGround, who: GroundUser, name: GroundUser, role: string, workspace = "acme") =>
  ground.call(who, "members.update", { params: at(ground, name, workspace), body: { role: role as "viewer" } });
const remove = (ground: PeopleGround, who: GroundUser, name: GroundUser) =>
  ground.call(who, "members.remove", { params: at(ground, name) });

test("an admin sets roles up to admin, an owner any role, and nobody raises their own", async () => {
  await using ground = await openPeopleGround();
  for (const role of workspaceRoles) {
    const byAdmin = await setRole(ground, "admin", "viewer", role);
    expect([role, byAdmin.status]).toEqual([role, role === "owner" ? 403 : 200]);
    expect([role, (await setRole(ground, "owner", "viewer", role)).body.role]).toEqual([role, role]);
    await setRole(ground, "owner", "viewer", "viewer");
  }
  expect((await setRole(ground, "admin", "admin", "owner")).code).toBe("forbidden");
  expect((await setRole(ground, "admin", "owner", "viewer")).code).toBe("forbidden");
  expect((await setRole(ground, "member", "member", "admin")).code).toBe("forbidden");
});

test("a new role applies to the next request", async () => {
  await using ground = await openPeopleGround();
  expect((await ground.call("viewer", "invitations.list", { params: { workspace: "acme" } })).status).toBe(403);
  await setRole(ground, "owner", "viewer", "admin");
  expect((await ground.call("viewer", "invitations.list", { params: { workspace: "acme" } })).status).toBe(200);
});

test("members may leave, admins remove members, and owners remove owners, except the last one", async () => {
  await using ground = await openPeopleGround();
  expect((await remove(ground, "member", "viewer")).code).toBe("forbidden");
  expect((await remove(ground, "admin", "owner")).code).toBe("forbidden");
  expect((await remove(ground, "owner", "owner")).code).toBe("conflict");
  expect((await setRole(ground, "owner", "owner", "admin")).code).toBe("conflict");
  expect((await remove(ground, "viewer", "viewer")).status).toBe(200);
  expect((await remove(ground, "admin", "member")).status).toBe(200);
  expect((await ground.call("viewer", "members.list", { params: { workspace: "acme" } })).status).toBe(404);
  expect((await remove(ground, "administrator", "admin")).status).toBe(200);
});

test("returns 404 for users of another workspace, except to an administrator, who can add them", async () => {
  await using ground = await openPeopleGround();
  const missing = await ground.call("owner", "members.update", {
    params: { workspace: "acme", user: "usr_nobody" },
    body: { role: "viewer" },
  });
  const stranger = await setRole(ground, "owner", "stranger", "viewer");
  expect([stranger.status, stranger.body]).toEqual([404, missing.body]);
  expect((await remove(ground, "owner", "stranger")).status).toBe(404);
  expect((await setRole(ground, "stranger", "viewer", "viewer")).status).toBe(404);
  expect((await setRole(ground, "administrator", "stranger", "owner")).body.role).toBe("owner");
  expect((await setRole(ground, "administrator", "newcomer", "viewer", "other")).status).toBe(200);
});

test("rejects listing the members of all workspaces at once", async () => {
  await using ground = await openPeopleGround();
  const answer = await ground.call("administrator", "members.list", { params: { workspace: "-" } });
  expect([answer.code, answer.param]).toEqual(["invalid_request", "workspace"]);
});

test("an admin limits members up to their own role; members and lower roles limit nobody", async () => {
  await using ground = await openPeopleGround();
  const budget = { usd: 20, period: "month" } as const;
  const limit = (who: GroundUser, name: GroundUser) =>
    ground.call(who, "members.update", { params: at(ground, name), body: { limits: { rpm: 9 }, budget } });
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
  const { data } = (await ground.call("admin", "members.list", { params: { workspace: "acme" } })).body;
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
