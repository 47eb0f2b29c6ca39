import { expect, test } from "bun:test";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };
const month = { page: "usage", name: "Last month", state: "range=last_month&by=key" } as const;

type Who = Parameters<TenantFixture["call"]>[0];

const save = async (fixture: TenantFixture, who: Who, body: object) =>
  await fixture.call(who, "views.create", { params: acme, body: body as never });
const listed = async (fixture: TenantFixture, who: Who) =>
  (await fixture.call(who, "views.list", { params: acme })).body.data.map((view: { name: string }) => view.name);

test("saves views of a page for their owner, and for the workspace when they are shared", async () => {
  await using fixture = await openTenantFixture();
  const made = await save(fixture, "viewer", month);
  expect(made).toMatchObject({
    status: 201,
    body: { ...month, shared: false, owner: { email: "viewer@example.com" } },
  });
  await save(fixture, "member", { ...month, name: "By team", shared: true });
  expect(await listed(fixture, "viewer")).toEqual(["By team", "Last month"]);
  expect(await listed(fixture, "admin")).toEqual(["By team"]);
  const params = { ...acme, view: made.body.id };
  const renamed = await fixture.call("viewer", "views.update", { params, body: { name: "Spend", shared: true } });
  expect(renamed.body).toMatchObject({ name: "Spend", shared: true, state: month.state });
  expect(await listed(fixture, "admin")).toEqual(["By team", "Spend"]);
  expect((await fixture.audit()).filter((row) => row.object.startsWith("saved view")).map((row) => row.action)).toEqual(
    expect.arrayContaining(["create", "update"]),
  );
  expect((await fixture.call("viewer", "views.remove", { params })).status).toBe(204);
  expect(await listed(fixture, "viewer")).toEqual(["By team"]);
});

test("lets only owners and admins change a shared view, and hides private views and other workspaces", async () => {
  await using fixture = await openTenantFixture();
  const mine = (await save(fixture, "viewer", month)).body.id;
  const shared = (await save(fixture, "viewer", { ...month, name: "Shared", shared: true })).body.id;
  const rename = async (who: Who, view: string, workspace = "acme") =>
    (await fixture.call(who, "views.update", { params: { workspace, view }, body: { name: "Other" } })).status;
  expect(await rename("member", mine)).toBe(404);
  expect(await rename("admin", mine)).toBe(404);
  expect(await rename("member", shared)).toBe(403);
  expect(await rename("admin", shared)).toBe(200);
  expect(await rename("viewer", "view_missing")).toBe(404);
  expect((await fixture.call("stranger", "views.list", { params: acme })).status).toBe(404);
  expect(await rename("administrator", shared, "-")).toBe(404);
});

test("answers an admin who stops sharing another user's view with the view", async () => {
  await using fixture = await openTenantFixture();
  const view = (await save(fixture, "viewer", { ...month, shared: true })).body.id;
  const params = { ...acme, view };
  const unshared = await fixture.call("admin", "views.update", { params, body: { shared: false } });
  expect(unshared).toMatchObject({
    status: 200,
    body: { id: view, shared: false, owner: { email: "viewer@example.com" } },
  });
  expect(await listed(fixture, "admin")).toEqual([]);
  expect(await listed(fixture, "viewer")).toEqual(["Last month"]);
});

test("lists a user's own views also when others share more than fit", async () => {
  await using fixture = await openTenantFixture();
  await save(fixture, "viewer", month);
  const [mine] = await fixture.database.kysely.selectFrom("saved_views").selectAll().execute();
  if (mine === undefined) throw new Error("the view was not saved");
  const shared = Array.from({ length: 600 }, (_, n) => {
    return { ...mine, id: `view_${n}`, owner_id: fixture.users.member.id, name: `!${n}`, shared: 1 };
  });
  await fixture.database.kysely.insertInto("saved_views").values(shared).execute();
  expect(await listed(fixture, "viewer")).toContain("Last month");
  const params = { ...acme, view: mine.id };
  expect((await fixture.call("viewer", "views.update", { params, body: { name: "Spend" } })).status).toBe(200);
});

test("bounds the views of a user, and their names and states", async () => {
  await using fixture = await openTenantFixture();
  for (let n = 0; n < 100; n++) expect((await save(fixture, "viewer", { ...month, name: `v${n}` })).status).toBe(201);
  expect(await save(fixture, "viewer", month)).toMatchObject({ status: 409, code: "conflict" });
  expect((await save(fixture, "member", month)).status).toBe(201);
  for (const wrong of [{ name: "" }, { state: "x".repeat(3_000) }, { state: "a b" }, { page: "keys" }, { more: 1 }]) {
    expect((await save(fixture, "member", { ...month, ...wrong })).status).toBe(400);
  }
});
