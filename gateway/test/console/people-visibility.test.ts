import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { Alert, AlertRule, KeyWithUsage, LimitUsageRow, MemberWithUsage } from "@sluice/contract";
import { type AlertLog, createAlertLog, createAlertSettings } from "#alerts/index.ts";
import { createMemoryCounter } from "#coordination/index.ts";
import { bounds, usdToNano } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import { createReportStore } from "#storage/index.ts";
import { ledgerEntry, newYear, silentObserver } from "../conformance/store-fixture.ts";
import { type ConsoleFixture, openConsoleFixture } from "../console-fixture.ts";

const hour = 3_600_000;
const day = 24 * hour;
const acme = { workspace: "acme" };
const time = { from: newYear, to: newYear + 10 * day };

/** Every endpoint that shows people, over the real stores. */
async function openWithPeople(): Promise<ConsoleFixture & { readonly alertLog: AlertLog }> {
  let alertLog: AlertLog | null = null;
  let close = async (): Promise<void> => undefined;
  const fixture = await openConsoleFixture((gateway) => {
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    close = () => reports.close();
    const admission = new Admission({ counter: createMemoryCounter({ clock: gateway.clock }), clock: gateway.clock });
    const explain = { explanation: async () => null, capture: async () => null };
    alertLog = createAlertLog(gateway);
    return {
      alertLog,
      alertSettings: createAlertSettings(gateway),
      alertSender: { send: async () => null },
      consoleUrl: () => null,
      admission,
      reports,
      explain,
      randomBytes,
      changesSeen: async () => undefined,
    };
  });
  if (alertLog === null) throw new Error("the fixture has no gateway");
  return {
    ...fixture,
    alertLog,
    async [Symbol.asyncDispose]() {
      await close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

/** One call each of the member, the admin, and a key without an owner, in acme. */
async function calls(fixture: ConsoleFixture): Promise<Readonly<Record<"member" | "admin" | "shared", string>>> {
  const { users } = fixture;
  const make = async (name: "member" | "admin" | "shared", owner: object) => {
    const body = { name, budget: { usd: 5, period: "month" }, ...owner };
    const { key } = (await fixture.call("admin", "keys.create", { params: acme, body })).body;
    const person = name === "shared" ? {} : { personId: users[name].id };
    const own = {
      workspaceId: fixture.acme.id,
      keyId: key.id,
      at: newYear + day,
      costNanoUsd: usdToNano(1),
      ...person,
    };
    await fixture.ledgerStore.insert([ledgerEntry(name, own)]);
    return key.id as string;
  };
  return {
    member: await make("member", { owner: users.member.id }),
    admin: await make("admin", { owner: users.admin.id }),
    shared: await make("shared", {}),
  };
}

test("admins list everyone who called, and unowned keys apart; members only themselves", async () => {
  await using fixture = await openWithPeople();
  await calls(fixture);
  fixture.clock.jump(20 * day);
  const ask = (who: "viewer" | "member" | "admin" | "stranger", query = {}) =>
    fixture.call(who, "usage.rows", { params: acme, query: { ...time, by: "person", sort: "label", ...query } });
  const labels = async (...given: Parameters<typeof ask>) =>
    (await ask(...given)).body.data.map((row: { label: string }) => row.label);
  expect((await ask("admin")).body).toMatchObject({ total: 3, totals: { cost_usd: 3, requests: 3 }, next: null });
  expect(await labels("admin")).toEqual(["admin@example.com", "member@example.com", "No person"]);
  expect(await labels("admin", { search: "MEMBER" })).toEqual(["member@example.com"]);
  expect(await labels("member")).toEqual(["member@example.com", "No person"]);
  expect((await ask("member")).body.totals).toMatchObject({ cost_usd: 3, requests: 3 });
  expect((await ask("stranger")).status).toBe(404);
});

test("members and viewers see spending of themselves and of unowned keys; spending of others only in totals", async () => {
  await using fixture = await openWithPeople();
  const keys = await calls(fixture);
  const { users } = fixture;
  fixture.clock.jump(20 * day);
  const series = async (who: "viewer" | "member" | "admin", query: object) =>
    await fixture.call(who, "usage.series", { params: acme, query: { ...time, step: "day", ...query } });
  const lines = async (who: "viewer" | "member" | "admin", by: "person" | "key") =>
    (await series(who, { by })).body.series.map((line: { label: string }) => line.label).toSorted();
  expect(await lines("admin", "person")).toEqual(["No person", "admin@example.com", "member@example.com"]);
  expect(await lines("member", "person")).toEqual(["No person", "Others", "member@example.com"]);
  expect(await lines("viewer", "person")).toEqual(["No person", "Others"]);
  expect(await lines("admin", "key")).toEqual(["admin", "member", "shared"]);
  expect(await lines("member", "key")).toEqual(["Others", "member", "shared"]);
  expect(await lines("viewer", "key")).toEqual(["Others", "shared"]);
  for (const by of ["person", "key", "model"]) {
    expect((await series("viewer", { by })).body.totals).toMatchObject({ requests: 3, cost_usd: 3 });
  }
  expect((await series("member", { key: keys.admin })).body.totals.requests).toBe(0);
  expect((await series("member", { key: keys.member })).body.totals.requests).toBe(1);
  expect((await series("member", { person: users.member.id })).body.totals.cost_usd).toBe(1);
  for (const id of ["usage.series", "limits.list", "requests.list"] as const) {
    const query = { ...(id === "usage.series" ? time : {}), person: users.admin.id } as never;
    const refused = await fixture.call("member", id, { params: acme, query });
    expect([id, refused.status, refused.param]).toEqual([id, 403, "person"]);
    expect((await fixture.call("admin", id, { params: acme, query })).status).toBe(200);
  }
});

test("members and viewers see requests of themselves and of unowned keys; others return 404", async () => {
  await using fixture = await openWithPeople();
  await calls(fixture);
  const listed = async (who: "viewer" | "member" | "admin") =>
    (await fixture.call(who, "requests.list", { params: acme })).body.data
      .map((row: { request_id: string }) => row.request_id)
      .toSorted();
  expect(await listed("admin")).toEqual(["req_admin", "req_member", "req_shared"]);
  expect(await listed("member")).toEqual(["req_member", "req_shared"]);
  expect(await listed("viewer")).toEqual(["req_shared"]);
  const shown = (who: "member" | "admin", request: string) =>
    fixture.call(who, "requests.show", { params: { ...acme, request } });
  expect((await shown("member", "req_member")).status).toBe(200);
  const [hidden, missing] = [await shown("member", "req_admin"), await shown("member", "req_none")];
  expect([hidden.status, hidden.body]).toEqual([404, missing.body]);
  expect((await shown("admin", "req_admin")).status).toBe(200);
});

test("limits and budget use of other people and their keys are for admins", async () => {
  await using fixture = await openWithPeople();
  const keys = await calls(fixture);
  const { people, users } = fixture;
  const budget = { usd: 9, period: "month" } as const;
  for (const name of ["member", "admin"] as const) {
    await people.updateMember(fixture.acme.id, users[name].id, { budget }, { actor: "test", ip: null });
  }
  const scopes = async (who: "viewer" | "member" | "admin") =>
    (await fixture.call(who, "limits.list", { params: acme })).body.data.map((row: LimitUsageRow) => row.scope_id);
  const [member, admin] = [users.member.id, users.admin.id];
  expect(await scopes("admin")).toEqual([admin, member, keys.admin, keys.member, keys.shared]);
  expect(await scopes("member")).toEqual([member, keys.member, keys.shared]);
  expect(await scopes("viewer")).toEqual([keys.shared]);
  const used = async (who: "viewer" | "member" | "admin") => {
    const list = (await fixture.call(who, "members.list", { params: acme })).body.data as MemberWithUsage[];
    const owned = (await fixture.call(who, "keys.list", { params: acme })).body.data as KeyWithUsage[];
    const reported = [...list.filter((each) => each.budget !== null), ...owned];
    return reported.flatMap((each) => (each.budget_used === null ? [] : [each.id])).toSorted();
  };
  expect(await used("admin")).toEqual([admin, member, ...Object.values(keys)].toSorted());
  expect(await used("member")).toEqual([member, keys.member, keys.shared].toSorted());
  expect(await used("viewer")).toEqual([keys.shared]);
  const one = (await fixture.call("member", "keys.show", { params: { ...acme, key: keys.admin } })).body;
  expect([one.budget_used, one.exhausted_by]).toEqual([null, null]);
});

test("rules on a person's or their key's budget, and alerts about them, are for that person and admins", async () => {
  await using fixture = await openWithPeople();
  const keys = await calls(fixture);
  const { users, alertLog } = fixture;
  const create = async (name: string, scope: string | null, scope_id: string | null) => {
    const condition = { kind: "budget", percent: [80], scope, scope_id };
    const body = { ...ruleBody, name, condition };
    expect((await fixture.call("admin", "alertRules.create", { params: acme, body })).status).toBe(201);
  };
  await create("about the admin", "person", users.admin.id);
  await create("about the member", "person", users.member.id);
  for (const name of ["admin", "member", "shared"] as const) await create(`key of ${name}`, "key", keys[name]);
  await create("about everything", null, null);
  const names = async (who: "viewer" | "member" | "admin") => {
    const rules = (await fixture.call(who, "alertRules.list")).body.data as AlertRule[];
    return rules.map(({ name }) => name).toSorted();
  };
  const shared = ["about everything", "key of shared"];
  expect(await names("viewer")).toEqual(shared);
  expect(await names("member")).toEqual([...shared, "about the member", "key of member"].toSorted());
  expect(await names("admin")).toHaveLength(6);
  const open = async (subject: string, personId: string | null) => {
    const finding = { kind: "budget", severity: "warning", level: 1, facts: {}, subject, personId } as const;
    await alertLog.openAlert({ id: "r", name: "r" }, { ...finding, workspaceId: fixture.acme.id }, [], true);
  };
  await open("of acme", null);
  await open("of the member", users.member.id);
  await open("of the admin", users.admin.id);
  const seen = async (who: "viewer" | "member" | "admin") =>
    ((await fixture.call(who, "alerts.list")).body.data as Alert[]).length;
  expect([await seen("viewer"), await seen("member"), await seen("admin")]).toEqual([1, 2, 3]);
});

const ruleBody = {
  ...{ channels: [], quiet_hours: null, repeat_hours: null, send_resolved: false, enabled: true, muted_until: null },
};

test("forecasts a person's budget from their own spending over all their keys", async () => {
  await using fixture = await openWithPeople();
  const { users, clock } = fixture;
  await calls(fixture);
  clock.jump(newYear + 2 * day - clock.now());
  const budget = { usd: 9, period: "month" } as const;
  for (const name of ["member", "viewer"] as const) {
    await fixture.people.updateMember(fixture.acme.id, users[name].id, { budget }, { actor: "test", ip: null });
  }
  const rows = (await fixture.call("admin", "limits.list", { params: acme })).body.data as LimitUsageRow[];
  const forecast = (scope: string) => rows.find(({ scope_id }) => scope_id === scope)?.forecast;
  // One dollar on one day, so the forecast adds 29 for the rest of the month. The amount used so far is not included here.
  const left = 29;
  expect(forecast(users.member.id)?.at_period_end).toBeCloseTo(left, 6);
  expect(forecast(users.member.id)?.exhausted_at).toBe(newYear + 2 * day + 9 * day);
  expect(forecast(users.viewer.id)).toEqual({ at_period_end: 0, exhausted_at: null });
  const own = (await fixture.call("member", "limits.list", { params: acme, query: { person: users.member.id } })).body;
  expect(own.data.find((row: LimitUsageRow) => row.scope === "person").forecast).toEqual(forecast(users.member.id));
});

test("limits how often a workspace may test alerts per hour, by mail or webhook", async () => {
  await using fixture = await openWithPeople();
  const target = { kind: "email", to: ["a@example.com"] };
  const body = { name: "spend", language: "en", enabled: true, target };
  const { id } = (await fixture.call("admin", "alertChannels.create", { params: acme, body })).body;
  const send = () => fixture.call("admin", "alertChannels.test", { params: { ...acme, channel: id } });
  for (let n = 0; n < bounds.alertTestsMax; n++) expect((await send()).body.ok).toBe(true);
  const refused = await send();
  expect([refused.status, refused.code]).toEqual([429, "rate_limit_exceeded"]);
  fixture.clock.advance(bounds.mailWindowMs);
  expect((await send()).body.ok).toBe(true);
});
