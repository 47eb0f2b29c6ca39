import { expect, test } from "bun:test";
import type { Mailer } from "#ports/index.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import { openConsoleFixture } from "../console-fixture.ts";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };
const wanted = {
  name: "ci",
  purpose: "Nightly builds",
  models: ["gpt-*"],
  limits: { rpm: 60 },
  budget: { usd: 50, period: "month" },
} as const;

type Who = Parameters<TenantFixture["call"]>[0];

const ask = (fixture: TenantFixture, who: Who, body: object = wanted) =>
  fixture.call(who, "keyRequests.create", { params: acme, body: { ...body } });

/** Calls about one request. */
function about({ call }: TenantFixture, request: string, workspace = "acme") {
  const params = { workspace, request };
  return {
    approve: (who: Who, body: object = {}) => call(who, "keyRequests.approve", { params, body: { ...body } }),
    decline: (who: Who, reason = "Use the shared key.") =>
      call(who, "keyRequests.decline", { params, body: { reason } }),
    withdraw: (who: Who) => call(who, "keyRequests.withdraw", { params }),
    collect: (who: Who, body: object = {}) => call(who, "keyRequests.collect", { params, body: { ...body } }),
    show: async (who: Who) => (await call(who, "keyRequests.show", { params })).body,
  };
}

const listed = async ({ call }: TenantFixture, who: Who, query: object = {}) =>
  (await call(who, "keyRequests.list", { params: acme, query: query as never })).body.data;

test("gives a viewer the key that an admin approved, and only them its secret", async () => {
  await using fixture = await openTenantFixture();
  const { viewer, admin } = fixture.users;
  const made = await ask(fixture, "viewer");
  expect(made).toMatchObject({
    status: 201,
    body: {
      ...{ state: "pending", purpose: "Nightly builds", requester: { id: viewer.id }, granted: null, key: null },
      requested: { name: "ci", group: { name: "default" }, models: ["gpt-*"], limits: { rpm: 60 }, expires_at: null },
    },
  });
  const request = about(fixture, made.body.id);
  expect(await request.collect("viewer")).toMatchObject({ status: 409, code: "conflict" });
  const approved = await request.approve("admin");
  expect(approved.body).toMatchObject({
    state: "approved",
    decided_by: { id: admin.id },
    granted: made.body.requested,
  });
  expect(JSON.stringify(approved.body)).not.toContain("sk-");
  expect(await request.collect("admin")).toMatchObject({ status: 403, code: "forbidden" });
  expect(await request.collect("member")).toMatchObject({ status: 404 });
  const { status, body } = await request.collect("viewer");
  expect(status).toBe(201);
  expect(body.key).toMatchObject({
    ...{ name: "ci", models: ["gpt-*"], limits: { rpm: 60 }, budget: { usd: 50, period: "month" } },
    ...{ owner: { id: viewer.id }, created_by: { id: viewer.id } },
    set_by_admins: ["group", "models", "limits", "budget"],
  });
  expect(await fixture.authenticate(body.secret)).toBe(body.key.id);
  expect(await fixture.personOf(body.secret)).toBe(viewer.id);
  expect(await request.collect("viewer")).toMatchObject({ status: 409, code: "conflict" });
  expect(await request.show("viewer")).toMatchObject({ state: "collected", key: body.key.id });
  const rows = (await fixture.audit()).filter(({ object }) => object.endsWith("acme/ci"));
  expect(rows.map(({ actor, action, object }) => `${actor} ${action} ${object}`)).toEqual([
    "viewer@example.com create key request acme/ci",
    "admin@example.com approve key request acme/ci",
    "viewer@example.com create key acme/ci",
    "viewer@example.com collect key request acme/ci",
  ]);
  expect(JSON.stringify(rows)).not.toContain(body.secret);
});

test("approves with changes, and the requester can only narrow the result", async () => {
  await using fixture = await openTenantFixture();
  const group = await fixture.call("admin", "groups.create", { params: acme, body: { name: "gold" } });
  const request = about(fixture, (await ask(fixture, "member", { ...wanted, group: "gold" })).body.id);
  const changes = { name: "nightly", models: null, budget: { usd: 20, period: "month" } };
  expect((await request.approve("admin", changes)).body).toMatchObject({
    requested: { name: "ci", budget: { usd: 50 } },
    granted: { name: "nightly", group: { id: group.body.id }, models: null, limits: { rpm: 60 }, budget: { usd: 20 } },
  });
  const { key } = (await request.collect("member")).body;
  expect(key).toMatchObject({ name: "nightly", group: { name: "gold" }, budget: { usd: 20 } });
  const update = (body: object) =>
    fixture.call("member", "keys.update", { params: { ...acme, key: key.id }, body: { ...body } });
  expect(await update({ budget: { usd: 50, period: "month" } })).toMatchObject({ status: 403, param: "budget" });
  expect(await update({ budget: { usd: 5, period: "month" } })).toMatchObject({ status: 200 });
});

test("lets only admins decide, also about their own requests, and once", async () => {
  await using fixture = await openTenantFixture();
  const request = about(fixture, (await ask(fixture, "member")).body.id);
  for (const who of ["viewer", "member"] as const) {
    expect(await request.approve(who)).toMatchObject({ status: 403 });
    expect(await request.decline(who)).toMatchObject({ status: 403 });
  }
  expect(await request.approve("stranger")).toMatchObject({ status: 404 });
  expect(await request.decline("admin", " ")).toMatchObject({ status: 400, param: "reason" });
  expect((await request.decline("admin")).body).toMatchObject({ state: "declined", reason: "Use the shared key." });
  const late = await request.approve("owner");
  expect(late).toMatchObject({ status: 409, code: "conflict" });
  expect(late.body.error.message).toBe("This request was already declined by admin@example.com.");
  expect(await request.collect("member")).toMatchObject({ status: 409 });
  const own = about(fixture, (await ask(fixture, "admin", { ...wanted, name: "own" })).body.id);
  expect((await own.approve("admin")).body.state).toBe("approved");
});

test("refuses grants that the approver could not create as a key", async () => {
  await using fixture = await openTenantFixture();
  await fixture.makeKey("admin", { name: "taken" });
  const request = about(fixture, (await ask(fixture, "viewer", { ...wanted, name: "taken" })).body.id);
  expect(await request.approve("admin")).toMatchObject({ status: 409, param: "name" });
  expect(await request.approve("admin", { group: "missing" })).toMatchObject({ status: 404, param: "group" });
  expect(await request.approve("admin", { pass_through: ["openai"] })).toMatchObject({ status: 400 });
  expect(await request.approve("admin", { name: "x", expires_at: fixture.clock.now() - 1 })).toMatchObject({
    status: 400,
    param: "expires_at",
  });
  expect((await request.approve("admin", { name: "ci" })).status).toBe(200);
  await fixture.makeKey("admin", { name: "ci" });
  expect(await request.collect("viewer")).toMatchObject({ status: 409, param: "name" });
  expect((await request.collect("viewer", { name: "ci 2" })).body.key.name).toBe("ci 2");
});

test("shows each person their own requests, and admins all", async () => {
  await using fixture = await openTenantFixture();
  const mine = (await ask(fixture, "viewer")).body.id;
  await ask(fixture, "member", { ...wanted, name: "build" });
  const names = async (who: Who, query: object = {}) =>
    (await listed(fixture, who, query)).map((each: { requested: { name: string } }) => each.requested.name);
  expect(await names("viewer")).toEqual(["ci"]);
  expect(await names("admin")).toEqual(["build", "ci"]);
  expect((await fixture.call("member", "keyRequests.show", { params: { ...acme, request: mine } })).status).toBe(404);
  await about(fixture, mine).approve("admin");
  expect(await names("admin", { state: "pending" })).toEqual(["build"]);
  expect(await names("admin", { state: "approved" })).toEqual(["ci"]);
  const attention = async (who: Who) =>
    (await fixture.call(who, "attention.list", { params: acme })).body.data
      .filter((each: { finding: { code: string } }) => each.finding.code.startsWith("key_request"))
      .map((each: { text: string }) => each.text);
  expect(await attention("admin")).toEqual(["Key requests waiting for a decision in acme: 1."]);
  expect(await attention("viewer")).toEqual(["Your request for the key ci was approved. Collect the key."]);
  expect(await attention("member")).toEqual([]);
});

test("limits the open requests of a person, who can withdraw them", async () => {
  await using fixture = await openTenantFixture();
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) ids.push((await ask(fixture, "viewer", { ...wanted, name: `n${n}` })).body.id);
  expect(await ask(fixture, "viewer")).toMatchObject({ status: 409, code: "conflict" });
  expect((await ask(fixture, "member")).status).toBe(201);
  const [first = ""] = ids;
  expect(await about(fixture, first).withdraw("admin")).toMatchObject({ status: 403 });
  expect((await about(fixture, first).withdraw("viewer")).body.state).toBe("withdrawn");
  expect(await about(fixture, first).approve("admin")).toMatchObject({ status: 409 });
  expect((await ask(fixture, "viewer")).status).toBe(201);
  const [, second = ""] = ids;
  await about(fixture, second).approve("admin");
  expect((await about(fixture, second).withdraw("admin")).body.state).toBe("withdrawn");
  expect(await about(fixture, second).collect("viewer")).toMatchObject({ status: 409 });
});

test("refuses requests that could not become a key", async () => {
  await using fixture = await openTenantFixture();
  const wrong = [
    { purpose: "no name" },
    { name: "no purpose" },
    { ...wanted, purpose: "x".repeat(1_001) },
    { ...wanted, name: " " },
    { ...wanted, expires_at: 1 },
    { ...wanted, limits: { rpm: -1 } },
    { ...wanted, owner: fixture.users.admin.id },
  ];
  for (const body of wrong) expect((await ask(fixture, "viewer", body)).status, JSON.stringify(body)).toBe(400);
  expect(await ask(fixture, "viewer", { ...wanted, group: "missing" })).toMatchObject({ status: 404, param: "group" });
  expect((await ask(fixture, "stranger")).status).toBe(404);
  const everywhere = { params: { workspace: "-" }, body: wanted };
  expect((await fixture.call("administrator", "keyRequests.create", everywhere as never)).status).toBe(400);
});

test("withdraws the requests of people who leave or are disabled", async () => {
  await using fixture = await openTenantFixture();
  const { viewer, member } = fixture.users;
  const pending = about(fixture, (await ask(fixture, "viewer")).body.id);
  const approved = about(fixture, (await ask(fixture, "member", { ...wanted, name: "build" })).body.id);
  await approved.approve("admin");
  await fixture.call("admin", "members.remove", { params: { ...acme, user: viewer.id }, body: {} });
  await fixture.call("administrator", "users.update", { params: { user: member.id }, body: { disabled: true } });
  expect((await pending.show("admin")).state).toBe("withdrawn");
  expect((await approved.show("admin")).state).toBe("withdrawn");
  await fixture.call("administrator", "users.update", { params: { user: member.id }, body: { disabled: false } });
  expect(await approved.collect("member")).toMatchObject({ status: 409 });
});

test("mails the decision to the requester in their language", async () => {
  const mails: Parameters<Mailer["send"]>[0][] = [];
  await using fixture = await openConsoleFixture(() => ({
    mailer: { send: async (mail) => void mails.push(mail) },
    consoleUrl: () => "https://sluice.example",
    observer: silentObserver,
  }));
  const params = async (name: string) => {
    const body = { ...wanted, name };
    return { ...acme, request: (await fixture.call("viewer", "keyRequests.create", { params: acme, body })).body.id };
  };
  const approved = await params("ci");
  await fixture.call("admin", "keyRequests.approve", { params: approved, body: {} });
  const language = { language: "zh-CN" };
  await fixture.database.kysely.updateTable("auth_users").set(language).where("name", "=", "viewer").execute();
  const body = { reason: "太贵" };
  await fixture.call("admin", "keyRequests.decline", { params: await params("build"), body });
  expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
    [["viewer@example.com"], "Key request approved: ci"],
    [["viewer@example.com"], "密钥申请被拒绝：build"],
  ]);
  expect(mails[0]?.text).toContain(
    `https://sluice.example/console/keys?workspace=acme&view=requests&request=${approved.request}`,
  );
  expect(mails[1]?.text).toContain("太贵");
});
