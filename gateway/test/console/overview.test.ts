import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AttentionItem, BodyInput } from "@sluice/contract";
import { type AlertLog, type AlertSettings, createAlertLog, createAlertSettings } from "#alerts/index.ts";
import { createMemoryCounter } from "#coordination/index.ts";
import {
  type BudgetPolicy,
  Failure,
  type LedgerEntry,
  type LimitScope,
  type Principal,
  policyScope,
  usdToNano,
} from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import { Router } from "#routing/index.ts";
import { createReportStore } from "#storage/index.ts";
import { systemChance } from "#system/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import { ledgerEntry, newYear, silentObserver } from "../conformance/store-fixture.ts";
import { account, delivery, task, taskEntry } from "../conformance/task-fixture.ts";
import { openConsoleFixture, type Who } from "../console-fixture.ts";

const hour = 3_600_000;
const day = 24 * hour;
const acme = { workspace: "acme" };
const all = { workspace: "-" };

/** The real stores, reports, limits and router; the facts of the process are the test's. */
async function openAttention() {
  let close = async (): Promise<void> => undefined;
  const facts = { journalHealthy: true, journalLag: 0, problems: [] as string[], certificateEndsAt: null };
  const built = {} as {
    admission: Admission;
    router: Router;
    alertLog: AlertLog;
    alertSettings: AlertSettings;
    taskStore: ReturnType<typeof createTaskStore>;
  };
  const fixture = await openConsoleFixture((gateway) => {
    const { clock, database, vault, ids } = gateway;
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    close = () => reports.close();
    built.admission = new Admission({ counter: createMemoryCounter({ clock }), clock });
    built.router = new Router({ clock, chance: systemChance, observer: silentObserver });
    built.alertSettings = createAlertSettings({ database, vault, clock, ids });
    built.alertLog = createAlertLog({ database, clock, ids });
    built.taskStore = createTaskStore({ database, vault });
    return {
      ...{ reports, admission: built.admission, router: built.router },
      ...{ alertSettings: built.alertSettings, alertLog: built.alertLog },
      ...{ observer: silentObserver, changesSeen: async () => undefined, databaseKind: "sqlite" },
      randomBytes: (size: number) => crypto.getRandomValues(new Uint8Array(size)),
      videos: { failedWebhooks: (workspaceId, since) => built.taskStore.failedDeliveries(workspaceId, since) },
      certificateEndsAt: () => facts.certificateEndsAt,
      gatewayProblems: () => facts.problems,
      processFacts: {
        read: async () => ({
          ...{ startedAt: 0, memoryBytes: 0, streamsOpen: 0, reservationsOpen: 0 },
          ...{ journalHealthy: facts.journalHealthy, journalLag: facts.journalLag },
        }),
      },
      endpointsOf: () => [],
      untranslatedEndpointsOf: () => [],
    };
  });
  const spend = async (scope: LimitScope, usd: number) => {
    await built.admission.limitUsages([scope]);
    const permit = await built.admission.hold({ scopes: [scope] } as unknown as Principal, usdToNano(usd), true);
    const cost = { workspaceId: "none", groupId: "none", keyId: "none", [`${scope.kind}Id`]: scope.id };
    const at = fixture.clock.now();
    built.admission.settled({ attemptId: fixture.ids.next("att_"), at, ...cost, costNanoUsd: usdToNano(usd) });
    permit.settle(0);
  };
  return {
    ...fixture,
    ...built,
    facts,
    spend,
    list: async (who: Who, params: { readonly workspace: string } = acme): Promise<readonly AttentionItem[]> =>
      (await fixture.call(who, "attention.list", { params })).body.data,
    add: (entries: readonly Partial<LedgerEntry>[]) =>
      fixture.ledgerStore.insert(
        entries.map((changes) => ledgerEntry(fixture.ids.next("e"), { workspaceId: fixture.acme.id, ...changes })),
      ),
    async [Symbol.asyncDispose]() {
      await close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

const codes = (items: readonly AttentionItem[]) => items.map(({ finding }) => finding.code);

test("finds nothing when all is well, and names the checks of each role", async () => {
  await using fixture = await openAttention();
  const answer = async (who: Who, params = acme) =>
    (await fixture.call(who, "attention.list", { params: params })).body;
  expect(await answer("viewer")).toEqual({
    data: [],
    checked: ["errors", "budgets", "keys", "requests", "tokens", "alerts"],
  });
  expect((await answer("admin")).checked).toEqual([
    "errors",
    "budgets",
    "keys",
    "requests",
    "tokens",
    "webhooks",
    "alerts",
  ]);
  const administrator = await answer("administrator", all);
  expect(administrator.checked).toHaveLength(11);
  expect(administrator.data).toEqual([]);
  expect((await fixture.call("stranger", "attention.list", { params: acme })).status).toBe(404);
});

test("lists exhausted budgets before near ones, the fullest first, with the spend that the limits page shows", async () => {
  await using fixture = await openAttention();
  const body = { name: "cheap", budget: { usd: 10, period: "month" } };
  const { id } = (await fixture.call("admin", "groups.create", { params: acme, body })).body;
  const key = async (name: string) =>
    (
      await fixture.call("admin", "keys.create", {
        params: acme,
        body: { name, budget: { usd: 1, period: "day" } },
      })
    ).body.key.id;
  const [full, over, idle] = [await key("full"), await key("over"), await key("idle")];
  const keyScope = (keyId: string): LimitScope => ({
    ...{ kind: "key", id: keyId, label: `key acme/${keyId}`, limits: {} },
    budget: { nanoUsd: usdToNano(1), period: "day" },
  });
  const group = fixture.configSnapshot().groups.get(id);
  await fixture.spend(group?.scope as LimitScope, 8.5);
  await fixture.spend(keyScope(full), 1);
  await fixture.spend(keyScope(over), 7.94);
  await fixture.spend(keyScope(idle), 0.1);
  const items = await fixture.list("admin");
  expect(items.map(({ severity, text, subject }) => [severity, text, subject.kind])).toEqual([
    ["critical", "acme/over has used 7.94 of 1 USD (day). Its calls are refused.", "key"],
    ["critical", "acme/full has used 1 of 1 USD (day). Its calls are refused.", "key"],
    ["warning", "acme/cheap has used 85 % of its budget: 8.5 of 10 USD (month).", "group"],
  ]);
  const limits = (await fixture.call("admin", "limits.list", { params: acme })).body.data;
  expect(limits.find((row: { scope_id: string }) => row.scope_id === over)?.used).toBe(7.94);
  // Another workspace, and a raised limit, are clear.
  expect(await fixture.list("stranger", { workspace: "other" })).toEqual([]);
  const raise = { params: { ...acme, key: over }, body: { budget: { usd: 100, period: "day" } } } as const;
  await fixture.call("admin", "keys.update", raise);
  expect(codes(await fixture.list("admin"))).toEqual(["budget_exhausted", "budget_near"]);
});

test("shows members only their own budgets and keys, and admins everyone's", async () => {
  await using fixture = await openAttention();
  const { member, admin } = fixture.users;
  const budget = { usd: 0, period: "month" };
  for (const user of [member.id, admin.id]) {
    await fixture.call("admin", "members.update", { params: { ...acme, user }, body: { budget } });
  }
  const soon = fixture.clock.now() + 2 * day;
  for (const [who, name] of [
    ["member", "mine"],
    ["admin", "theirs"],
  ] as const) {
    const body = { name, owner: fixture.users[who].id, expires_at: soon };
    expect((await fixture.call(who, "keys.create", { params: acme, body })).status).toBe(201);
  }
  const subjects = async (who: Who) => (await fixture.list(who)).map(({ subject }) => subject.name);
  expect(await subjects("member")).toEqual(["acme/member@example.com", "mine"]);
  expect(await subjects("viewer")).toEqual([]);
  expect((await subjects("admin")).toSorted()).toEqual([
    "acme/admin@example.com",
    "acme/member@example.com",
    "mine",
    "theirs",
  ]);
  expect((await fixture.list("member"))[0]?.subject).toMatchObject({ kind: "person", id: member.id });
});

test("lists policies that are near their end, used up or on their fallback, to admins and administrators", async () => {
  await using fixture = await openAttention();
  const policy = async (who: Who, params: { readonly workspace: string }, body: object) => {
    const answer = await fixture.call(who, "budgets.create", {
      params,
      body: { usd: 10, period: "month", ...body } as BodyInput<"budgets.create">,
    });
    expect(answer.status).toBe(201);
    const stored = fixture.configSnapshot().budgetPolicies.find(({ id }) => id === answer.body.id) as BudgetPolicy;
    return policyScope({ policy: stored, value: null });
  };
  const near = await policy("admin", acme, { name: "near" });
  // A budget of nothing is used up from the start.
  await policy("admin", acme, { name: "full", usd: 0 });
  await policy("admin", acme, { name: "shadow", usd: 0, enforce: false });
  await policy("administrator", all, { name: "shared", usd: 0 });
  await policy("administrator", all, { name: "elsewhere", usd: 0, match: { workspaces: [fixture.other.id] } });
  await fixture.admission.hold({ scopes: [near] } as unknown as Principal, usdToNano(8.5), true);
  const found = async (who: Who, params = acme) =>
    (await fixture.list(who, params)).map(({ severity, finding, subject, workspace }) => [
      ...[severity, finding.code, subject.kind, subject.name, workspace?.slug ?? null],
    ]);
  const own = [
    ["critical", "budget_exhausted", "policy", "full", "acme"],
    ["warning", "budget_near", "policy", "near", "acme"],
  ];
  const installed = ["critical", "budget_exhausted", "policy", "shared", null];
  expect(await found("admin")).toEqual(own);
  expect((await found("administrator")).toSorted()).toEqual([...own, installed].toSorted());
  expect((await found("administrator", all)).map(([, , , name]) => name).toSorted()).toEqual([
    ...["elsewhere", "full", "near", "shared"],
  ]);
  expect(await found("member")).toEqual([]);
  expect(await found("viewer")).toEqual([]);
});

test("a used-up budget with a fallback model is a warning that names the model", async () => {
  await using fixture = await openAttention();
  const provider = { id: "main", kind: "openai-compatible", base_url: "https://models.example/v1" };
  const model = { name: "small", deployments: [{ provider: "main" }], price: { input: 1, output: 2 } };
  expect((await fixture.call("administrator", "providers.create", { body: provider })).status).toBe(201);
  expect((await fixture.call("administrator", "models.create", { body: model })).status).toBe(201);
  const budget = { usd: 0, period: "month", over: { fallback: "small" } } as const;
  const made = await fixture.call("admin", "keys.create", { params: acme, body: { name: "ci", budget } });
  expect(made.status).toBe(201);
  expect(
    (await fixture.call("admin", "budgets.create", { params: acme, body: { name: "all", ...budget } })).status,
  ).toBe(201);
  const sentence = (name: string) =>
    `${name} has used 0 of 0 USD (month). Calls that do not fit run with small instead.`;
  expect((await fixture.list("admin")).map(({ severity, text }) => [severity, text])).toEqual([
    ["warning", sentence("acme/ci")],
    ["warning", sentence("all")],
  ]);
  // A budget keeps the fallback that it has, but takes no other that does not exist.
  expect((await fixture.call("administrator", "models.remove", { params: { model: "small" } })).status).toBe(200);
  const change = (over: object) => {
    const body = { budget: { ...budget, usd: 5, ...over } };
    return fixture.call("admin", "keys.update", { params: { ...acme, key: made.body.key.id }, body });
  };
  expect((await change({})).status).toBe(200);
  expect((await change({ over: { fallback: "smaller" } })).status).toBe(400);
});

test("lists keys and admin tokens that expire within a week, critical on the last day", async () => {
  await using fixture = await openAttention();
  const now = fixture.clock.now();
  const keyOf = (name: string, days: number) =>
    fixture.call("admin", "keys.create", { params: acme, body: { name, expires_at: now + days * day } });
  for (const [name, days] of [
    ["tomorrow", 1],
    ["soon", 6],
    ["later", 8],
  ] as const) {
    expect((await keyOf(name, days)).status).toBe(201);
  }
  const token = { name: "deploy", administrator: true, expires_at: now + 3 * day };
  expect((await fixture.call("administrator", "tokens.create", { body: token })).status).toBe(201);
  expect((await fixture.list("administrator")).map(({ severity, text }) => [severity, text])).toEqual([
    ["critical", "The key acme/tomorrow expires in 24 h."],
    ["warning", "The key acme/soon expires in 144 h."],
    ["warning", "The admin token deploy expires in 72 h."],
  ]);
  expect(codes(await fixture.list("admin"))).not.toContain("admin_token_expiring");
  fixture.clock.jump(7 * day);
  expect((await fixture.list("admin")).map(({ subject }) => subject.name)).toEqual(["later"]);
});

test("lists an error spike when requests fail more often than usual, for a member their own only", async () => {
  await using fixture = await openAttention();
  const { member } = fixture.users;
  const { acme: home } = fixture;
  const now = newYear + 3 * day;
  fixture.clock.jump(now - fixture.clock.now());
  const many = (count: number, changes: Partial<LedgerEntry>) => Array.from({ length: count }, () => changes);
  const failed = { outcome: "failed", errorCode: "upstream_error", httpStatus: 502 } as const;
  await fixture.add([...many(95, { at: now - 10 * hour }), ...many(5, { at: now - 10 * hour, ...failed })]);
  await fixture.add(many(28, { at: now - 60_000 }));
  expect(await fixture.list("admin")).toEqual([]);
  await fixture.add(many(12, { at: now - 60_000, ...failed }));
  const [spike] = await fixture.list("admin");
  expect(spike).toMatchObject({
    severity: "warning",
    text: "12 of 40 recent requests in acme failed: 30 %, usually 5 %.",
    workspace: { id: home.id, slug: "acme" },
  });
  expect((await fixture.list("administrator", all)).map(({ text }) => text)).toContain(spike?.text ?? "");
  expect(await fixture.list("member")).toEqual([]);
  await fixture.add(many(12, { at: now - 60_000, ...failed, personId: member.id }));
  expect((await fixture.list("member")).map(({ text }) => text)).toEqual([
    "12 of 12 recent requests in acme failed: 100 %, usually 0 %.",
  ]);
});

test("lists a provider that is down or fails, and unpriced models with the requests they got", async () => {
  await using fixture = await openAttention();
  const administrator = async (id: "providers.create" | "models.create", body: object) =>
    expect((await fixture.call("administrator", id, { body: { ...body } })).status).toBe(201);
  for (const id of ["main", "shaky"]) {
    await administrator("providers.create", { id, kind: "openai-compatible", base_url: "https://models.example/v1" });
  }
  const price = { input: 1, output: 2 };
  await administrator("models.create", { name: "one", deployments: [{ provider: "main" }], price });
  await administrator("models.create", { name: "two", deployments: [{ provider: "shaky" }] });
  await administrator("models.create", { name: "three", deployments: [{ provider: "shaky" }] });
  const { models } = fixture.configSnapshot();
  const [one, two] = [models.get("one"), models.get("two")];
  if (one === undefined || two === undefined) throw new Error("the models are missing");
  const broken = new Failure("upstream_error", "broken", { unhealthy: true, retry: "other" });
  for (let count = 0; count < 5; count++) fixture.router.plan([one]).next(null)?.end(broken, 1);
  const at = fixture.clock.now() - 60_000;
  const failing = { provider: "shaky", model: "two", deployment: two.deployments[0]?.id ?? "", at };
  await fixture.add([
    ...Array.from({ length: 6 }, () => failing),
    ...Array.from({ length: 4 }, () => ({ ...failing, outcome: "failed", errorCode: "upstream_error" }) as const),
  ]);
  expect((await fixture.list("administrator", all)).map(({ severity, text }) => [severity, text])).toEqual([
    ["critical", "main is down: calls to it are stopped after repeated failures."],
    ["warning", "shaky failed in 4 of 10 attempts in the last hour."],
    ["warning", "two has no price and got 10 requests in the last 7 days."],
    ["notice", "Models without a price and without recent requests: 1."],
  ]);
  expect(await fixture.list("owner")).toEqual([]);
});

test("lists alerts that could not be sent and webhooks that were given up, for admins of their workspace", async () => {
  await using fixture = await openAttention();
  const { alertLog, alertSettings, taskStore, acme: home } = fixture;
  const target = { kind: "webhook", url: "https://chat.example.com/hook" } as const;
  const fields = { name: "to the team", language: "en", enabled: true, target } as const;
  const channel = await alertSettings.createChannel(home.id, fields, { actor: "test", ip: null });
  const now = fixture.clock.now();
  const finding = { kind: "budget", subject: "s", level: 1, severity: "warning", facts: {}, personId: null } as const;
  const message = { channel, dueAt: now, quiet: false };
  await alertLog.openAlert({ id: "r", name: "r" }, { ...finding, workspaceId: home.id }, [message], true);
  const [due] = await alertLog.leaseDue(now, 60_000, 10);
  if (due === undefined) throw new Error("no message is due");
  await alertLog.recordSend(due, { tries: 6, dueAt: null, sentAt: null, problem: "The address returned 500." });
  for (const name of ["a", "b"]) {
    await taskStore.create(task(name, { account, workspaceId: home.id }));
    const leased = await taskStore.leaseOne(`vt_${name}`, newYear, 60_000);
    if (leased === null) throw new Error("the task cannot be leased");
    const webhook = delivery(name, { workspaceId: home.id });
    await taskStore.finish(leased, { state: "failed", detail: "done" }, [taskEntry(name)], webhook, newYear);
  }
  for (const leased of await taskStore.dueDeliveries(newYear, 60_000, 10)) {
    const result = { tries: 9, dueAt: null, lastStatus: 500, lastError: "HTTP 500", deliveredAt: null };
    await taskStore.recordDelivery(leased, result);
  }
  const texts = async (who: Who, params = acme) => (await fixture.list(who, params)).map(({ text }) => text);
  const ours = [
    "Alerts could not be sent to the channel to the team.",
    "2 webhooks could not be delivered in the last 24 hours.",
  ];
  expect(await texts("admin")).toEqual(ours);
  expect(await texts("member")).toEqual([]);
  expect(await texts("stranger", { workspace: "other" })).toEqual([]);
  expect(await texts("administrator", all)).toEqual(ours);
  fixture.clock.jump(2 * day);
  expect(await texts("admin")).toEqual(ours.slice(0, 1));
});

test("puts open alerts on the finding about the same budget, and lists other alerts by themselves, to their viewers", async () => {
  await using fixture = await openAttention();
  const { alertLog, acme: home, users } = fixture;
  const body = { name: "spent", budget: { usd: 0, period: "day" } };
  const { key } = (await fixture.call("admin", "keys.create", { params: acme, body })).body;
  const open = async (name: string, finding: object) => {
    const about = { level: 1, severity: "warning", subject: name, personId: null, workspaceId: home.id, ...finding };
    await alertLog.openAlert({ id: name, name }, about as never, [], true);
  };
  const budget = { scope: "key", scope_id: key.id, name: "acme/spent", period: "day" };
  await open("budgets", { kind: "budget", facts: { ...budget, used_usd: 0, limit_usd: 0, percent: 1 } });
  await open("more budgets", { kind: "budget", facts: { ...budget, used_usd: 0, limit_usd: 0, percent: 1 } });
  const slow = { workspace: "acme", p95_ms: 9_000, limit_ms: 5_000, requests: 40, minutes: 5, filter: "" };
  await open("slow answers", { kind: "latency", facts: slow });
  const spend = { workspace: "acme", spent_usd: 9, usual_usd: 1, span: "hour", filter: "" };
  await open("spend of a member", { kind: "spend_anomaly", facts: spend, personId: users.member.id });
  const shown = async (who: Who, params = acme) =>
    (await fixture.list(who, params)).map(({ finding, alerts }) => [finding.code, ...alerts.map(({ kind }) => kind)]);
  expect(await shown("admin")).toEqual([
    ["budget_exhausted", "budget", "budget"],
    ["alert_open", "spend_anomaly"],
    ["alert_open", "latency"],
  ]);
  const latency = (await fixture.list("viewer")).find(({ alerts: [alert] }) => alert?.kind === "latency");
  expect(latency?.text).toBe("The p95 latency of acme was 9 s in the last 5 minutes, above 5 s (40 requests).");
  expect((await shown("viewer")).flat()).not.toContain("spend_anomaly");
  expect(await shown("stranger", { workspace: "other" })).toEqual([]);
});

test("lists expiring certificates of providers and of the gateway", async () => {
  await using fixture = await openAttention();
  const ca = readFileSync(join(import.meta.dir, "../fixtures/tls/upstream.example.cert.pem"), "utf8");
  const body = { id: "main", kind: "openai-compatible", base_url: "https://models.example/v1", settings: { ca } };
  expect((await fixture.call("administrator", "providers.create", { body })).status).toBe(201);
  expect(await fixture.list("administrator")).toEqual([]);
  const ends = Date.parse("Oct 28 04:46:59 2126 GMT");
  fixture.clock.jump(ends - 10 * day - fixture.clock.now());
  Object.assign(fixture.facts, { certificateEndsAt: ends - 10 * day - hour });
  const items = await fixture.list("administrator");
  expect(
    items.filter(({ finding }) => finding.code !== "price_list_old").map(({ severity, text }) => [severity, text]),
  ).toEqual([
    ["critical", "The certificate of Sluice has expired."],
    ["warning", "The certificate of main expires in 240 h."],
  ]);
});

test("lists an old price list and trouble of the ledger and the gateway, for administrators only", async () => {
  await using fixture = await openAttention();
  Object.assign(fixture.facts, { journalHealthy: false, journalLag: 12, problems: ["the disk is nearly full"] });
  fixture.clock.jump(3_650 * day);
  expect((await fixture.list("administrator", all)).map(({ severity, text }) => [severity, text])).toEqual([
    ["critical", "The ledger cannot be written; 12 entries are waiting."],
    ["warning", "The gateway reports: the disk is nearly full."],
    ["notice", expect.stringMatching(/^The price list is \d{4} days old\.$/)],
  ]);
  Object.assign(fixture.facts, { journalHealthy: true, journalLag: 20_000, problems: [] });
  expect(codes(await fixture.list("administrator"))).toEqual(["ledger_behind", "price_list_old"]);
  expect(await fixture.list("owner")).toEqual([]);
});

test("names a check that failed, and still answers with the others", async () => {
  await using fixture = await openAttention();
  await fixture.call("administrator", "workspaces.update", {
    params: acme,
    body: { budget: { usd: 0, period: "day" } },
  });
  await fixture.database.kysely.schema.dropTable("alert_channels").execute();
  expect((await fixture.list("admin")).map(({ finding }) => [finding.code, finding.params["check"]])).toEqual([
    ["budget_exhausted", undefined],
    ["check_failed", "webhooks"],
  ]);
});

test("lists at most five findings with one code, and counts the rest", async () => {
  await using fixture = await openAttention();
  for (let n = 0; n < 8; n++) {
    const body = { name: `key ${n}`, budget: { usd: 0, period: "day" } };
    await fixture.call("admin", "keys.create", { params: acme, body });
  }
  expect((await fixture.list("admin")).map(({ alike }) => alike)).toEqual([0, 0, 0, 0, 3]);
});

test("adds up this month and the previous one as the ledger does, with a forecast and the monthly budget", async () => {
  await using fixture = await openAttention();
  const now = Date.UTC(2026, 2, 16, 12);
  fixture.clock.jump(now - fixture.clock.now());
  const at = (month: number, date: number, usd: number, changes = {}) =>
    ({ at: Date.UTC(2026, month, date, 6), costNanoUsd: usdToNano(usd), ...changes }) as const;
  await fixture.add([at(2, 1, 1), at(2, 12, 3), at(2, 15, 4), at(1, 2, 10), at(1, 27, 20), at(0, 31, 99)]);
  await fixture.add([at(2, 14, 50, { workspaceId: fixture.other.id })]);
  const month = async (who: Who, params = acme) => (await fixture.call(who, "usage.month", { params })).body;
  const ours = await month("viewer");
  expect(ours).toMatchObject({
    ...{ from: Date.UTC(2026, 2, 1), to: now, cost_usd: 8, budget_usd: null },
    previous: { from: Date.UTC(2026, 1, 1), to: Date.UTC(2026, 1, 16, 12), cost_usd: 10, whole_usd: 30 },
  });
  // 7 USD since 12 March, the first day with spend, until the end of the month.
  const perDay = 7 / 4.5;
  expect(ours.forecast_usd).toBeCloseTo(8 + perDay * 15.5, 6);
  const entries = (await fixture.call("viewer", "requests.list", { params: acme, query: { from: ours.from } })).body
    .data;
  expect(entries.reduce((sum: number, entry: { cost_usd: number }) => sum + entry.cost_usd, 0)).toBeCloseTo(8, 9);
  expect(await month("administrator", all)).toMatchObject({ cost_usd: 58, budget_usd: null });
  await fixture.call("administrator", "workspaces.update", {
    params: acme,
    body: { budget: { usd: 40, period: "month" } },
  });
  expect((await month("viewer")).budget_usd).toBe(40);
  expect((await fixture.call("stranger", "usage.month", { params: acme })).status).toBe(404);
});

test("compares the end of a long month with the whole of a shorter one before", async () => {
  await using fixture = await openAttention();
  fixture.clock.jump(Date.UTC(2026, 2, 31, 12) - fixture.clock.now());
  const { previous } = (await fixture.call("viewer", "usage.month", { params: acme })).body;
  expect([previous.from, previous.to]).toEqual([Date.UTC(2026, 1, 1), Date.UTC(2026, 2, 1)]);
});
