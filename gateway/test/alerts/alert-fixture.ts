import { test } from "bun:test";
import type { AlertCondition, AlertTarget, ConfigFile } from "@sluice/contract";
import {
  AlertSender,
  AlertWatch,
  type ChannelFields,
  createAlertLog,
  createAlertSettings,
  createReportRuns,
  createScheduledReports,
  type ReadReport,
  ReportWatch,
  type RuleFields,
} from "#alerts/index.ts";
import { createMemoryCounter, createMemoryTries } from "#coordination/index.ts";
import { bounds, type LimitScope, usdToNano } from "#core/index.ts";
import { createPeopleStore } from "#directory/index.ts";
import { Admission } from "#limits/index.ts";
import type { Leadership, Mailer, OutboundRequest } from "#ports/index.ts";
import { createIds } from "#system/index.ts";
import { priceReader } from "../../src/storage/database/price-rows.ts";
import { PastSums } from "../../src/storage/reports/past-sums.ts";
import { answerReport } from "../../src/storage/reports/report-answers.ts";
import { Deadline } from "../../src/storage/reports/report-context.ts";
import { reportStoreOf } from "../../src/storage/reports/report-store.ts";
import { type StoreFixture, type StoreFixtureFactory, silentObserver } from "../conformance/store-fixture.ts";
import { transportOf } from "../sending-transport.ts";

export const auditSource = { actor: "ada@example.com", ip: "127.0.0.1" };

/** A workspace with a daily budget of 10 USD and one with none, rules and channels in a real database, and a recorder of messages. */
export async function openAlerts(stores: StoreFixture) {
  const { database, vault, clock, controlStore, ledgerStore } = stores;
  const ids = createIds(clock);
  await controlStore.apply(config, "test");
  let snapshot = await controlStore.configSnapshot();
  const workspaceOf = (slug: string) => {
    const workspace = [...snapshot.workspaces.values()].find((each) => each.slug === slug);
    if (workspace === undefined) throw new Error(`the fixture has no workspace ${slug}`);
    return workspace;
  };
  const [acme, other] = [workspaceOf("acme"), workspaceOf("other")];
  const admission = new Admission({ counter: createMemoryCounter({ clock }), clock });
  const settings = createAlertSettings({ database, vault, clock, ids });
  const log = createAlertLog({ database, clock, ids });
  const scheduledReports = createScheduledReports({ database, clock, ids });
  const runs = createReportRuns({ database, clock, ids });
  const sent: OutboundRequest[] = [];
  const mails: Parameters<Mailer["send"]>[0][] = [];
  /** Status by host; default: 204. */
  const statuses = new Map<string, number>();
  const transport = transportOf(async (request) => {
    sent.push(request);
    const body = { read: async () => null, readAll: async () => new Uint8Array(), cancel: () => {} };
    return { status: statuses.get(new URL(request.url).host) ?? 204, headers: new Headers(), body };
  });
  const sender = new AlertSender({
    ...{ settings, transport, clock, openTries: createMemoryTries(clock) },
    mailer: { send: async (mail) => void mails.push(mail) },
    webhookSecrets: () => [`whsec_${Buffer.from("secret of the workspace").toString("base64")}`],
  });
  const reports = reportStoreOf({
    ask: (kind, args) => {
      const connection = database.reading;
      const context = { connection, flavour: database.flavour, price: priceReader(connection) };
      const deadline = new Deadline(bounds.reportMs);
      return answerReport({ ...context, deadline, pastSums: new PastSums() }, kind, args);
    },
    sizeBytes: async () => null,
    backup: () => Promise.reject(new Error("not used")),
    close: async () => undefined,
  });
  const bodies = () => sent.map((request) => JSON.parse(new TextDecoder().decode(request.body as Uint8Array)));
  let open: readonly string[] = [];
  /** The watch of a process. */
  const openWatch = (leadership?: Pick<Leadership, "once">) =>
    new AlertWatch({
      ...{ settings, log, runs, sender, admission, controlStore, database, reports, clock },
      people: createPeopleStore({ database, clock, ids }),
      configSnapshot: () => snapshot,
      observer: silentObserver,
      consoleUrl: () => "https://sluice.example",
      slugOf: (id) => snapshot.workspaces.get(id)?.slug ?? id,
      openProviders: () => open,
      ...(leadership === undefined ? {} : { leadership }),
    });
  const watch = openWatch();
  // Only the rules of a test are evaluated.
  for (const rule of await settings.rules()) await settings.updateRule(rule.id, { enabled: false }, auditSource);
  const channel = async (fields: Partial<ChannelFields> = {}, workspaceId: string | null = acme.id) =>
    await settings.createChannel(workspaceId, { ...standardChannel, ...fields }, auditSource);
  const rule = async (
    condition: AlertCondition,
    { to, ...fields }: Partial<RuleFields> & { readonly to?: AlertTarget } = {},
    workspaceId: string | null = acme.id,
  ) => {
    const channels = fields.channels ?? [(await channel(to === undefined ? {} : { target: to }, workspaceId)).id];
    return await settings.createRule(workspaceId, { ...standardRule, condition, ...fields, channels }, auditSource);
  };
  return {
    ...{ clock, settings, log, watch, openWatch, sender, sent, mails },
    ...{ acme, other, database, ledgerStore, rule, channel, bodies, scheduledReports, runs, ids },
    /** The report watch of a process. */
    openReportWatch: (readReport: ReadReport) =>
      new ReportWatch({ reports: scheduledReports, runs, settings, readReport, clock, observer: silentObserver }),
    /** Headlines of the messages to webhooks. */
    texts: (): string[] => bodies().map(({ text }) => text as string),
    /** Actions of the messages to PagerDuty. */
    incidents: (messages = bodies()): string[] => messages.flatMap(({ event_action }) => event_action ?? []),
    /** Sets the daily budget of acme. */
    raiseBudget(usd: number) {
      const scope = { ...acme.scope, budget: { period: "day" as const, nanoUsd: usdToNano(usd) } };
      snapshot = { ...snapshot, workspaces: new Map(snapshot.workspaces).set(acme.id, { ...acme, scope }) };
    },
    answer: (status: number, host = "hooks.example.com") => void statuses.set(host, status),
    breakProviders: (ids: readonly string[]) => {
      open = ids;
    },
    /** Advances the clock, with one pass of the watch per minute. */
    async pass(minutes: number) {
      for (let minute = 0; minute < minutes; minute++) {
        clock.advance(60_000);
        await watch.check();
      }
    },
    async spend(usd: number, scope: LimitScope = acme.scope) {
      // A budget counts from its first read; earlier spending would be in a ledger.
      await admission.limitUsages([scope]);
      const caller = { scopes: [scope] } as unknown as Parameters<typeof admission.hold>[0];
      const permit = await admission.hold(caller, usdToNano(usd), true);
      const scopes = { workspaceId: scope.id, groupId: "grp_1", keyId: "key_1" };
      admission.settled({ attemptId: ids.next("att_"), at: clock.now(), ...scopes, costNanoUsd: usdToNano(usd) });
      permit.settle(0);
    },
  };
}

export type AlertFixture = Awaited<ReturnType<typeof openAlerts>>;

/** Declares tests with alerts, each on a new database. */
export function alertTest(make: StoreFixtureFactory) {
  return (title: string, check: (alerts: AlertFixture) => Promise<void>): void =>
    test(title, async () => {
      await using stores = await make();
      await check(await openAlerts(stores));
    });
}

export const budgetCondition: AlertCondition = { kind: "budget", percent: [80, 100], scope: null, scope_id: null };

export async function openAlertsOf({ log }: AlertFixture) {
  return (await log.page({ userId: "u", workspaces: null }, { state: "open" }, null, 100)).data;
}

const standardChannel: ChannelFields = {
  name: "team",
  target: { kind: "webhook", url: "https://hooks.example.com/secret-path" },
  language: "en",
  enabled: true,
};

const standardRule: Omit<RuleFields, "condition" | "channels"> = {
  name: "to the team",
  quiet_hours: null,
  repeat_hours: null,
  send_resolved: true,
  enabled: true,
  muted_until: null,
};

const config: ConfigFile = {
  workspaces: [
    {
      slug: "acme",
      name: "Acme",
      budget: { usd: 10, period: "day" },
      groups: [{ name: "default" }],
      keys: [{ name: "ci", secret: "sk-test-0123456789-0123456789", budget: { usd: 1, period: "month" } }],
    },
    { slug: "other", name: "Other", groups: [{ name: "default" }] },
  ],
};
