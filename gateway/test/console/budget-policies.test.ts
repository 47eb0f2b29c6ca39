import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { ConsoleBudgetPolicy } from "@sluice/contract";
import { createMemoryCounter } from "#coordination/index.ts";
import type { ConfigSnapshot } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import { Admission } from "#limits/index.ts";
import { createReportStore } from "#storage/index.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import { openConsoleFixture } from "../console-fixture.ts";

const params = { workspace: "acme" };
const budget = { usd: 5, period: "month" } as const;

/** With the real reports thread. */
async function openPolicies() {
  let close = async (): Promise<void> => undefined;
  let changed: ConfigSnapshot | null = null;
  let store: ControlStore | null = null;
  const changesSeen = async (): Promise<void> => {
    changed = (await store?.configSnapshot()) ?? null;
  };
  const fixture = await openConsoleFixture((gateway) => {
    const configSnapshot = () => changed ?? gateway.configSnapshot();
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    close = () => reports.close();
    const { clock } = gateway;
    const spending = { reports, settled: async () => undefined, observer: silentObserver };
    const admission = new Admission({
      ...{ counter: createMemoryCounter({ clock }), clock, spending },
      policies: () => configSnapshot().budgetPolicies,
    });
    store = gateway.controlStore;
    return { admission, reports, randomBytes, configSnapshot, changesSeen };
  });
  return {
    ...fixture,
    changesSeen,
    controlStore: () => store as ControlStore,
    async [Symbol.asyncDispose]() {
      await close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

test("admins own the policies of their workspace, administrators the installation's", async () => {
  await using fixture = await openPolicies();
  const { call, acme, other } = fixture;
  const own = await call("admin", "budgets.create", {
    params,
    body: { name: "teams", ...budget, split_by: "tag:team" },
  });
  expect(own.status).toBe(201);
  expect(own.body).toMatchObject({ name: "teams", workspace: { id: acme.id }, budget, split_by: "tag:team", limit: 5 });
  const everywhere = { params: { workspace: "-" } };
  const shared = { name: "shared", ...budget, match: { workspaces: [acme.id, other.id] } };
  expect((await call("admin", "budgets.create", { ...everywhere, body: shared })).status).toBeGreaterThanOrEqual(403);
  const installed = await call("administrator", "budgets.create", { ...everywhere, body: shared });
  expect(installed.body).toMatchObject({ workspace: null, match: { workspaces: [acme.id, other.id] } });
  const listed = (await call("viewer", "budgets.list", { params })).body.data as ConsoleBudgetPolicy[];
  // What it shares with other workspaces is not visible here.
  expect(listed.map(({ name, inherited, match, used }) => [name, inherited, match, used])).toEqual([
    ["shared", true, { workspaces: [acme.id] }, null],
    ["teams", false, {}, null],
  ]);
  const theirs = { workspace: "other", budget: own.body.id };
  expect((await call("stranger", "budgets.update", { params: theirs, body: { usd: 1 } })).status).toBe(404);
  expect((await call("viewer", "budgets.create", { params, body: { name: "no", ...budget } })).status).toBe(403);
  const inherited = { ...params, budget: installed.body.id };
  expect((await call("admin", "budgets.remove", { params: inherited })).status).toBe(404);
});

test("refuses what does not exist, belongs to another workspace or contradicts itself", async () => {
  await using fixture = await openPolicies();
  const { call, other } = fixture;
  const refused = async (body: object) => {
    const { status, body: answer } = await call("admin", "budgets.create", {
      params,
      body: { name: "p", ...budget, ...body } as never,
    });
    return [status, answer.error?.param ?? answer.param];
  };
  expect(await refused({ match: { workspaces: [other.id] } })).toEqual([400, "match.workspaces"]);
  expect(await refused({ match: { groups: ["grp_none"] } })).toEqual([400, "match.groups.0"]);
  expect(await refused({ over: { fallback: "none" } })).toEqual([400, "over.fallback"]);
  expect((await refused({ rolling: true, period: "total" }))[0]).toBe(400);
  expect((await refused({ rolling: true, time_zone: "Europe/Berlin" }))[0]).toBe(400);
  expect((await refused({ time_zone: "Europe/Nowhere" }))[0]).toBe(400);
  expect((await refused({ match: { keys: [] } }))[0]).toBe(400);
});

test("the budget of a workspace, group, key or person needs a fallback model that exists", async () => {
  await using fixture = await openPolicies();
  const { call, users } = fixture;
  const missing = { budget: { ...budget, over: { fallback: "none" } } } as const;
  const param = "budget.over.fallback";
  const refused = async (answer: ReturnType<typeof call>) => {
    const { status, body } = await answer;
    return [status, body.error?.param ?? body.param, body.error?.message ?? body.message];
  };
  const message = '`budget.over.fallback`: there is no model "none".';
  const key = (await call("admin", "keys.create", { params, body: { name: "ci", budget } })).body.key.id;
  const answers = [
    call("administrator", "workspaces.create", { body: { slug: "fresh", ...missing } as never }),
    call("administrator", "workspaces.update", { params, body: missing }),
    call("admin", "groups.create", { params, body: { name: "fresh", ...missing } }),
    call("admin", "groups.update", { params: { ...params, group: "default" }, body: missing }),
    call("admin", "keys.create", { params, body: { name: "fresh", ...missing } }),
    call("admin", "keys.update", { params: { ...params, key }, body: missing }),
    call("admin", "members.update", { params: { ...params, user: users.member.id }, body: missing }),
  ];
  for (const answer of answers) expect(await refused(answer)).toEqual([400, param, message]);
});

test("a change is audited, and a null removes the increase, the time zone and the split", async () => {
  await using fixture = await openPolicies();
  const { call } = fixture;
  const increase = { usd: 2, until: "2099-01-01T00:00:00Z", reason: "launch" };
  const body = { name: "p", ...budget, time_zone: "Europe/Berlin", split_by: "key", increase } as const;
  const { body: created } = await call("admin", "budgets.create", { params, body });
  expect(created).toMatchObject({ limit: 7, budget: { increase: { usd: 2, reason: "launch" } } });
  const one = { params: { ...params, budget: created.id } };
  const changed = await call("admin", "budgets.update", {
    ...one,
    body: { increase: null, time_zone: null, split_by: null, usd: 6 },
  });
  expect(changed.body).toMatchObject({ limit: 6, split_by: null, budget: { usd: 6, period: "month" } });
  expect(changed.body.budget).not.toHaveProperty("increase");
  expect(changed.body.budget).not.toHaveProperty("time_zone");
  const audit = await call("administrator", "audit.list", { params: { workspace: "acme" }, query: {} } as never);
  const objects = (audit.body.data as { object: string; action: string }[]).map(
    ({ object, action }) => `${action} ${object}`,
  );
  expect(objects.filter((text) => text.endsWith("budget acme/p"))).toHaveLength(2);
  expect((await call("admin", "budgets.remove", one)).status).toBe(200);
});

test("a policy with a deleted fallback model can be changed", async () => {
  await using fixture = await openPolicies();
  const { call } = fixture;
  const source = { actor: "anna", ip: null };
  await fixture.controlStore().createModel({ name: "small", deployments: [], fallbacks: [] }, source);
  const body = { name: "p", ...budget, over: { fallback: "small" } } as const;
  const { body: created } = await call("admin", "budgets.create", { params, body });
  await fixture.controlStore().removeModel("small", source);
  await fixture.changesSeen();
  const one = { params: { ...params, budget: created.id } };
  expect((await call("admin", "budgets.update", { ...one, body: { usd: 6 } })).status).toBe(200);
  expect((await call("admin", "budgets.update", { ...one, body: { enabled: false } })).body).toMatchObject({
    enabled: false,
    budget: { usd: 6, over: { fallback: "small" } },
  });
  const another = { over: { fallback: "none" } } as const;
  expect((await call("admin", "budgets.update", { ...one, body: another })).status).toBe(400);
  expect((await call("admin", "budgets.update", { ...one, body: { over: "refuse" } })).status).toBe(200);
});

test("a policy does not name deleted users, and counts no other calls without them", async () => {
  await using fixture = await openPolicies();
  const { call, users } = fixture;
  const create = async (name: string, people: string[]) =>
    (await call("admin", "budgets.create", { params, body: { name, ...budget, match: { people } } })).body.id as string;
  const [both, alone] = [
    await create("both", [users.viewer.id, users.member.id]),
    await create("alone", [users.viewer.id]),
  ];
  const removed = await call("administrator", "users.remove", { params: { user: users.viewer.id }, body: {} });
  expect(removed.status).toBe(200);
  const policy = async (id: string) =>
    (await call("admin", "budgets.show", { params: { ...params, budget: id } })).body as ConsoleBudgetPolicy;
  expect(await policy(both)).toMatchObject({ enabled: true, match: { people: [users.member.id] } });
  // It keeps the last id, so that it matches nothing if it is enabled again.
  expect(await policy(alone)).toMatchObject({ enabled: false, match: { people: [users.viewer.id] } });
  const enabled = await call("admin", "budgets.update", {
    params: { ...params, budget: alone },
    body: { enabled: true },
  });
  expect([enabled.status, enabled.body.error?.param ?? enabled.param]).toEqual([400, "match.people.0"]);
});
