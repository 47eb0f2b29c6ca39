import { expect, test } from "bun:test";
import type { AlertChannel, ReportRun, ScheduledReport } from "@sluice/contract";
import { reportReader } from "#admin/index.ts";
import {
  createAlertSettings,
  createReportRuns,
  createScheduledReports,
  type ReportContent,
  ReportWatch,
} from "#alerts/index.ts";
import { createReportStore } from "#storage/index.ts";
import { ledgerEntry, silentObserver } from "../conformance/store-fixture.ts";
import { openConsoleFixture, type Who } from "../console-fixture.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const acme = { workspace: "acme" };

/** The clock starts on Thursday, 2026-01-01, at midnight. Each of the days before has calls of two models. */
async function openFixture() {
  let close = async (): Promise<void> => undefined;
  let watch = null as ReportWatch | null;
  const fixture = await openConsoleFixture((gateway) => {
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    close = () => reports.close();
    const settings = createAlertSettings(gateway);
    const scheduledReports = createScheduledReports(gateway);
    const reportRuns = createReportRuns(gateway);
    const readReport = reportReader({ ...gateway, reports });
    watch = new ReportWatch({
      ...{ reports: scheduledReports, runs: reportRuns, settings, readReport },
      ...{ clock: gateway.clock, observer: silentObserver },
    });
    return {
      reports,
      scheduledReports,
      reportRuns,
      alertSettings: settings,
      alertLog: { lastDeliveries: async () => new Map() },
    };
  });
  const { acme: home, other, users, clock, ledgerStore, database } = fixture;
  const call = (id: string, at: number, changes: object) =>
    ledgerEntry(id, { workspaceId: home.id, at, endedAt: at, costNanoUsd: 1_000_000_000, ...changes });
  await ledgerStore.insert(
    Array.from({ length: 4 }, (_, day) => {
      const at = clock.now() - day * dayMs - 12 * hourMs;
      return [
        call(`big${day}`, at, { model: "gpt-5", costNanoUsd: (5 - day) * 1_000_000_000, person: users.viewer.id }),
        call(`small${day}`, at, { model: "tiny" }),
        call(`theirs${day}`, at, { workspaceId: other.id }),
      ];
    }).flat(),
  );
  const channelOf = async (target: object, who: Who = "admin", params = acme): Promise<AlertChannel> => {
    const body = { name: "Finance", language: "en", enabled: true, target } as never;
    return (await fixture.call(who, "alertChannels.create", { params, body })).body;
  };
  const channel = await channelOf({ kind: "webhook", url: "https://hooks.example.com/x" });
  const create = (who: Who, changes: object = {}, params = acme) =>
    fixture.call(who, "scheduledReports.create", {
      params,
      body: { ...daily, channels: [channel.id], ...changes } as never,
    });
  return {
    ...{ ...fixture, channel, channelOf, create },
    /** Moves the clock to the next eight in the morning, and makes the reports that are due. */
    async nextMorning() {
      clock.advance(dayMs - ((clock.now() + 16 * hourMs) % dayMs));
      await watch?.check();
    },
    async contents(): Promise<ReportContent[]> {
      const rows = await database.kysely.selectFrom("report_runs").select("content").orderBy("id").execute();
      return rows.map(({ content }) => JSON.parse(content ?? "null"));
    },
    async [Symbol.asyncDispose]() {
      await close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

const daily = {
  ...{ name: "Spend by model", state: "by=model&range=30d", every: "day", day: null, hour: 8, time_zone: "UTC" },
  ...{ period: "interval", attach_csv: true, enabled: true },
};

test("makes a report of the day before, compared with the day before that", async () => {
  await using fixture = await openFixture();
  const created = await fixture.create("member");
  expect(created).toMatchObject({
    status: 201,
    body: { ...daily, owner: { email: "member@example.com" }, next_at: fixture.clock.now() + 8 * hourMs, last: null },
  });
  await fixture.nextMorning();
  const [content] = await fixture.contents();
  const midnight = Date.UTC(2026, 0, 1);
  expect(content).toMatchObject({
    period: { from: midnight - dayMs, to: midnight },
    compared: { from: midnight - 2 * dayMs, to: midnight - dayMs },
    totals: { cost_usd: 6, requests: 2 },
    previous: { cost_usd: 5, requests: 2 },
    rows: [
      { label: "gpt-5", cost_usd: 5, previous_cost_usd: 4 },
      { label: "tiny", cost_usd: 1, previous_cost_usd: 1 },
    ],
    page: `/usage?workspace=acme&by=model&from=${midnight - dayMs}&to=${midnight}`,
    file: "usage-by-model-2025-12-31-to-2025-12-31",
  });
  const runs = await fixture.call("member", "scheduledReports.runs", { params: { ...acme, report: created.body.id } });
  const [run] = runs.body.data as ReportRun[];
  expect(run).toMatchObject({ trigger: "schedule", problem: null, period: content?.period });
  expect(run?.deliveries).toMatchObject([{ channel: { id: fixture.channel.id }, tries: 0 }]);
});

test("sends the view's own period, and chargeback by team and month", async () => {
  await using fixture = await openFixture();
  await fixture.create("admin", { state: "by=none&range=last_month", period: "view" });
  await fixture.create("admin", {
    state: "tab=chargeback&team=workspace&tag=team&tag_value=-",
    every: "month",
    day: 1,
    name: "Chargeback",
  });
  await fixture.nextMorning();
  const [view, chargeback] = await fixture.contents();
  const december = { from: Date.UTC(2025, 11, 1), to: Date.UTC(2026, 0, 1) };
  expect(view).toMatchObject({ period: december, totals: { cost_usd: 18, requests: 8 }, rows: [], file: null });
  expect(chargeback).toMatchObject({
    period: december,
    totals: { cost_usd: 18, requests: null },
    previous: { cost_usd: 0 },
    rows: [{ label: "acme", cost_usd: 18, previous_cost_usd: 0 }],
    page: "/usage?workspace=acme&tab=chargeback&team=workspace&tag=team&tag_value=-&from_month=2025-10&to_month=2025-12",
  });
});

test("never shows more than the owner may see, and stops when the owner loses the right or leaves", async () => {
  await using fixture = await openFixture();
  const { people, acme: home, users, call } = fixture;
  expect((await fixture.create("member", { state: `person=${users.viewer.id}` })).param).toBe("person");
  const byPerson = await fixture.create("admin", { state: "by=person" });
  const own = await fixture.create("member", { state: "by=key", name: "Member" });
  await people.setMember(home.id, users.admin.id, "member", { actor: "test", ip: null });
  await people.removeMember(home.id, users.member.id, { keys: null }, { actor: "test", ip: null });
  await fixture.nextMorning();
  const shown = async () =>
    (await call("owner", "scheduledReports.list", { params: acme })).body.data as ScheduledReport[];
  // A member's list of people is a list of models, as on the page.
  expect((await shown()).map(({ id, enabled, fault }) => [id, enabled, fault?.code])).toEqual([
    [own.body.id, false, "report_right_lost"],
    [byPerson.body.id, true, undefined],
  ]);
  expect((await fixture.contents()).find((each) => "rows" in each)?.rows.map(({ label }) => label)).toEqual([
    "gpt-5",
    "tiny",
  ]);
  await people.updateUser(users.admin.id, { disabled: true }, { actor: "test", ip: null });
  await fixture.nextMorning();
  expect((await shown()).map(({ fault }) => fault?.code)).toEqual(["report_right_lost", "report_owner_left"]);
  const params = { ...acme, report: byPerson.body.id };
  const resumed = await call("owner", "scheduledReports.update", { params, body: { enabled: true } });
  expect(resumed.body).toMatchObject({ enabled: true, problem: null, owner: { email: "owner@example.com" } });
});

test("users see their own reports, admins all of the workspace, and none of other workspaces", async () => {
  await using fixture = await openFixture();
  const { call } = fixture;
  const { id } = (await fixture.create("member")).body;
  await fixture.create("owner", { name: "Owner's" });
  const names = async (who: Who) =>
    (await call(who, "scheduledReports.list", { params: acme })).body.data.map(({ name }: ScheduledReport) => name);
  expect(await names("member")).toEqual([daily.name]);
  expect(await names("admin")).toEqual(["Owner's", daily.name]);
  expect(await names("viewer")).toEqual([]);
  expect((await fixture.create("viewer")).status).toBe(403);
  const statuses = async (who: Who, workspace: string) => {
    const params = { workspace, report: id };
    const answers = [
      await call(who, "scheduledReports.runs", { params }),
      await call(who, "scheduledReports.update", { params, body: { name: "x" } }),
      await call(who, "scheduledReports.send", { params }),
      await call(who, "scheduledReports.remove", { params }),
    ];
    return answers.map(({ status }) => status);
  };
  expect(await statuses("stranger", "other")).toEqual([404, 404, 404, 404]);
  expect(await statuses("administrator", "-")).toEqual([404, 404, 404, 404]);
  expect(await statuses("admin", "acme")).toEqual([200, 200, 202, 204]);
});

test("sends a report now, for its latest complete period, and at most 30 times per hour", async () => {
  await using fixture = await openFixture();
  const { id } = (await fixture.create("member")).body;
  const send = () => fixture.call("member", "scheduledReports.send", { params: { ...acme, report: id } });
  expect(await send()).toMatchObject({
    status: 202,
    body: { trigger: "manual", period: { to: Date.UTC(2025, 11, 31) }, deliveries: [{ tries: 0 }] },
  });
  for (let n = 0; n < 29; n++) await send();
  expect((await send()).code).toBe("rate_limit_exceeded");
  await fixture.call("admin", "alertChannels.update", {
    params: { ...acme, channel: fixture.channel.id },
    body: { enabled: false },
  });
  expect((await send()).param).toBe("channels");
});

test("refuses schedules, views and channels that cannot work", async () => {
  await using fixture = await openFixture();
  const pager = await fixture.channelOf({ kind: "pagerduty", routing_key: "R0UTINGKEY0123456789", region: "us" });
  const theirs = await fixture.channelOf({ kind: "webhook", url: "https://x.example.com" }, "stranger", {
    workspace: "other",
  });
  const wrong: readonly (readonly [object, string])[] = [
    [{ time_zone: "Mars/Olympus" }, "time_zone"],
    [{ every: "week", day: 8 }, "day"],
    [{ every: "month", day: null }, "day"],
    [{ every: "day", day: 1 }, "day"],
    [{ hour: 24 }, "hour"],
    [{ state: "tab=costs" }, "state"],
    [{ state: "order=-nothing" }, "sort"],
    [{ channels: [] }, "channels"],
    [{ channels: [pager.id] }, "channels"],
    [{ channels: [theirs.id] }, "channels"],
    [{ name: "" }, "name"],
  ];
  for (const [changes, param] of wrong) {
    expect(await fixture.create("admin", changes)).toMatchObject({ status: 400, param });
  }
  for (let n = 0; n < 100; n++) expect((await fixture.create("admin", { name: `r${n}` })).status).toBe(201);
  expect((await fixture.create("admin")).code).toBe("conflict");
});
