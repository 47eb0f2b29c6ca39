import { expect, test } from "bun:test";
import type { Alert, AlertChannel, AlertDelivery, AlertRule } from "@sluice/contract";
import {
  type AlertLog,
  type AlertMessage,
  createAlertLog,
  createAlertSettings,
  type ReportMessage,
} from "#alerts/index.ts";
import { type ConsoleFixture, openConsoleFixture, type Who } from "../console-fixture.ts";

const acme = { workspace: "acme" };
const all = { workspace: "-" };

const ruleBody = {
  ...{ name: "Budgets", channels: [] as string[], quiet_hours: null, repeat_hours: null },
  ...{ send_resolved: true, enabled: true, muted_until: null },
  condition: { kind: "budget", percent: [80], scope: null, scope_id: null } as object,
};
const targets = [
  { kind: "slack", url: "https://hooks.slack.com/services/secret-path" },
  { kind: "teams", url: "https://x.api.powerplatform.com/secret-path?sig=secret" },
  { kind: "webhook", url: "https://user:secret@hooks.example.com/secret-path" },
  { kind: "pagerduty", routing_key: "secretR0UTINGKEY0123", region: "us" },
  { kind: "email", to: ["ops@example.com"] },
];
const channelBody = { name: "On call", language: "en", enabled: true, target: targets[0] };

async function openFixture() {
  let alertLog = null as AlertLog | null;
  const sent: (AlertMessage | ReportMessage)[] = [];
  const fixture = await openConsoleFixture((gateway) => {
    alertLog = createAlertLog(gateway);
    return {
      ...{ alertLog, alertSettings: createAlertSettings(gateway), consoleUrl: () => null },
      changesSeen: async () => undefined,
      randomBytes: (size: number) => crypto.getRandomValues(new Uint8Array(size)),
      alertSender: {
        async send(_channel, message) {
          sent.push(message);
          return "The address returned 500.";
        },
      },
    };
  });
  if (alertLog === null) throw new Error("the fixture has no gateway");
  const log: AlertLog = alertLog;
  const open = async (subject: string, workspaceId: string | null, channels: readonly AlertChannel[] = []) => {
    const messages = channels.map(({ id, name, kind }) => ({ channel: { id, name, kind }, dueAt: 0, quiet: false }));
    const finding = {
      kind: "budget",
      level: 1,
      severity: "warning",
      facts: { name: subject },
      personId: null,
    } as const;
    await log.openAlert({ id: "rule_x", name: "r" }, { ...finding, subject, workspaceId }, messages, true);
  };
  return Object.assign(fixture, { sent, open });
}

const channel = async (fixture: ConsoleFixture, who: Who, params: object, target?: object) => {
  const body = target === undefined ? channelBody : { ...channelBody, target };
  const answer = await fixture.call(who, "alertChannels.create", { params: { ...params }, body });
  expect(answer.status).toBe(201);
  return answer.body as AlertChannel;
};

test("no answer, page or audit entry contains the address of a channel", async () => {
  await using fixture = await openFixture();
  const answers: unknown[] = [];
  for (const target of targets) {
    const created = await channel(fixture, "owner", acme, target);
    const params = { ...acme, channel: created.id };
    const renamed = await fixture.call("owner", "alertChannels.update", { params, body: { name: "renamed" } });
    const tried = await fixture.call("owner", "alertChannels.test", { params });
    expect(tried.body).toMatchObject({ ok: false, problem: "The address returned 500." });
    answers.push(created, renamed.body, tried.body);
  }
  const list = (await fixture.call("owner", "alertChannels.list")).body.data as AlertChannel[];
  expect(list.map(({ destination }) => destination)).toEqual([
    "hooks.slack.com",
    "x.api.powerplatform.com",
    "hooks.example.com",
    "events.pagerduty.com",
    "ops@example.com",
  ]);
  const texts = JSON.stringify([answers, list, await fixture.audit(), fixture.sent]);
  expect(texts).not.toMatch(/secret-path|secretR0|sig=secret|user:secret/);
});

test("destinations are for admins of the workspace, also for a user with a higher role elsewhere", async () => {
  await using fixture = await openFixture();
  await channel(fixture, "admin", acme);
  await channel(fixture, "stranger", { workspace: "other" });
  await channel(fixture, "administrator", all);
  const { acme: home, users, database } = fixture;
  const member = { workspace_id: home.id, user_id: users.stranger.id, role: "viewer", since: 0 } as const;
  await database.kysely.insertInto("members").values(member).execute();
  const seen = async (who: Who) => {
    const { data } = (await fixture.call(who, "alertChannels.list")).body as { data: AlertChannel[] };
    return data.map(({ workspace, destination }) => [workspace?.slug ?? null, destination !== null]);
  };
  expect(await seen("viewer")).toEqual([["acme", false]]);
  expect(await seen("admin")).toEqual([["acme", true]]);
  expect(await seen("stranger")).toEqual([
    ["acme", false],
    ["other", true],
  ]);
  expect(await seen("administrator")).toHaveLength(3);
});

test("refuses channels and objects of other workspaces in a rule", async () => {
  await using fixture = await openFixture();
  const theirs = await channel(fixture, "stranger", { workspace: "other" });
  const ours = await channel(fixture, "administrator", all);
  const create = (who: Who, params: Readonly<Record<string, string>>, changes: object) =>
    fixture.call(who, "alertRules.create", { params, body: { ...ruleBody, ...changes } });
  for (const { id } of [theirs, ours]) {
    expect((await create("admin", acme, { channels: [id] })).param).toBe("channels");
  }
  const key = await fixture.call("stranger", "keys.create", { params: { workspace: "other" }, body: { name: "ci" } });
  const condition = { kind: "budget", percent: [80], scope: "key", scope_id: key.body.key?.id ?? "key_x" };
  const refused = (message: string) => ({ body: { error: { param: "condition", message } } });
  expect(await create("admin", acme, { condition })).toMatchObject(refused("Key not found in this workspace."));
  const unknown = await create("administrator", all, { condition: { ...condition, scope_id: "key_x" } });
  expect(unknown).toMatchObject(refused("Key not found."));
  const guardrail = async (who: Who, params: { readonly workspace: string }) => {
    const body = { name: "keys", check: { kind: "credentials" }, action: "block" };
    const made = await fixture.call(who, "guardrails.create", { params, body });
    expect(made.status).toBe(201);
    return { kind: "guardrail_failure", failures: 1, minutes: 5, guardrail: made.body.id as string };
  };
  const foreign = await guardrail("stranger", { workspace: "other" });
  const inherited = await guardrail("administrator", all);
  expect(await create("admin", acme, { condition: foreign })).toMatchObject(
    refused("Guardrail not found in this workspace."),
  );
  expect(await create("administrator", all, { condition: foreign })).toMatchObject(refused("Guardrail not found."));
  expect((await create("admin", acme, { condition: inherited })).status).toBe(201);
  const down = { kind: "provider_down", minutes: 5, min_attempts: 5 };
  expect((await create("admin", acme, { condition: down })).param).toBe("condition");
  expect((await create("admin", all, {})).status).toBe(403);
  expect((await create("administrator", all, { condition: down, channels: [ours.id] })).status).toBe(201);
  const rule = (await create("admin", acme, {})).body as AlertRule;
  const params = { workspace: "other", rule: rule.id };
  const update = await fixture.call("stranger", "alertRules.update", { params, body: { enabled: false } });
  expect(update.status).toBe(404);
  expect((await fixture.call("stranger", "alertRules.remove", { params })).status).toBe(404);
  const test = { params: { workspace: "other", channel: ours.id } };
  expect((await fixture.call("stranger", "alertChannels.test", test)).status).toBe(404);
});

test("default rules are for administrators, who can change and delete them", async () => {
  await using fixture = await openFixture();
  const list = async (who: Who) => (await fixture.call(who, "alertRules.list")).body.data as AlertRule[];
  expect(await list("owner")).toEqual([]);
  const rules = await list("administrator");
  expect(rules).toHaveLength(8);
  const [first, second] = rules.map(({ id }) => ({ ...all, rule: id }));
  if (first === undefined || second === undefined) throw new Error("there are no rules");
  await fixture.call("administrator", "alertRules.update", { params: first, body: { enabled: false } });
  await fixture.call("administrator", "alertRules.remove", { params: second });
  expect((await list("administrator")).map(({ enabled }) => enabled)).toEqual([
    false,
    ...Array.from({ length: 6 }, () => true),
  ]);
});

test("each user sees the alerts of their workspaces, and alerts of the installation only as administrator", async () => {
  await using fixture = await openFixture();
  await fixture.open("ours", fixture.acme.id);
  await fixture.open("theirs", fixture.other.id);
  await fixture.open("provider", null);
  const names = async (who: Who, query = {}) => {
    const { data } = (await fixture.call(who, "alerts.list", { query })).body as { data: Alert[] };
    return data.map(({ facts }) => facts["name"]);
  };
  expect(await names("viewer")).toEqual(["ours"]);
  expect(await names("stranger")).toEqual(["theirs"]);
  expect(await names("administrator")).toEqual(["provider", "theirs", "ours"]);
  expect(await names("administrator", { workspace: "acme" })).toEqual(["ours"]);
  expect(await names("administrator", { state: "resolved" })).toEqual([]);
  expect((await fixture.call("viewer", "alerts.list", { query: { workspace: "other" } })).status).toBe(404);
  const [hidden] = (await fixture.call("stranger", "alerts.list")).body.data as Alert[];
  const params = { alert: hidden?.id ?? "" };
  expect((await fixture.call("viewer", "alerts.show", { params })).status).toBe(404);
  expect((await fixture.call("stranger", "alerts.show", { params })).body).toMatchObject({ ...hidden, deliveries: [] });
});

test("an alert lists its messages to channels that the caller may see", async () => {
  await using fixture = await openFixture();
  const ours = await channel(fixture, "admin", acme);
  const installation = await channel(fixture, "administrator", all);
  await fixture.open("ours", fixture.acme.id, [ours, installation]);
  const shown = async (who: Who) => {
    const [alert] = (await fixture.call(who, "alerts.list")).body.data as Alert[];
    const { body } = await fixture.call(who, "alerts.show", { params: { alert: alert?.id ?? "" } });
    return (body.deliveries as AlertDelivery[]).map((delivery) => delivery.channel.id).toSorted();
  };
  expect([await shown("viewer"), await shown("owner")]).toEqual([[ours.id], [ours.id]]);
  const params = { ...acme, channel: ours.id };
  await fixture.call("admin", "alertChannels.remove", { params });
  expect(await shown("administrator")).toEqual([ours.id, installation.id].toSorted());
});

test("an inbox counts the alerts that its user has not read, and marks only alerts that they may see", async () => {
  await using fixture = await openFixture();
  await fixture.open("one", fixture.acme.id);
  await fixture.open("two", fixture.acme.id);
  await fixture.open("theirs", fixture.other.id);
  const inbox = async (who: Who) => (await fixture.call(who, "inbox.show")).body as { unread: number; data: Alert[] };
  const { unread, data } = await inbox("viewer");
  expect([unread, data.length]).toEqual([2, 2]);
  const theirs = (await inbox("stranger")).data[0]?.id ?? "";
  fixture.clock.advance(1_000);
  await fixture.call("viewer", "inbox.read", { body: { alerts: [data[0]?.id ?? "", theirs] } });
  expect((await inbox("viewer")).unread).toBe(1);
  expect([(await inbox("admin")).unread, (await inbox("stranger")).unread]).toEqual([2, 1]);
  await fixture.call("viewer", "inbox.read", { body: { alerts: null } });
  const read = await inbox("viewer");
  expect([read.unread, read.data.map((alert) => alert.unread)]).toEqual([0, [false, false]]);
});
