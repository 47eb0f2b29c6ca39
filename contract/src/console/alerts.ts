import { z } from "zod";
import { alertChannelKinds, alertEvents, alertKinds, alertSeverities, alertStates } from "./alert-table.ts";
import { consoleLanguages } from "./languages.ts";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { limitScopes } from "./states.ts";
import { at, count, id, label, maybeAt, ms, nothing, pageOf, pageQuery } from "./words.ts";

const workspace = z.object({ id, slug: z.string() }).nullable().describe("null: the installation.");
const fault = remarkSchema("alert").nullable().describe("`problem` by code; null: none, or no code for it.");
const language = z.enum(consoleLanguages.map(({ id }) => id));

const share = z.number().min(0.1).max(100);
const windowMinutes = z.int().min(1).max(60).describe("Minutes.");
const filter = {
  model: z.string().min(1).max(256).optional(),
  provider: z.string().min(1).max(256).optional(),
  group: id.optional(),
  key: id.optional(),
};

const condition = z
  .discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("budget"),
      percent: z.array(z.int().min(1).max(100)).min(1).max(10).describe("Each is reported once per period."),
      scope: z.enum(limitScopes).nullable().describe("Type of the budgets. null: every budget."),
      scope_id: id.nullable().describe("For a `person`: the user id. null: every budget of this type."),
    }),
    z.strictObject({
      kind: z.literal("error_rate"),
      percent: share.describe("Percent of requests that failed."),
      minutes: windowMinutes,
      min_requests: z.int().min(1).max(100_000).describe("Fewer requests raise no alert."),
      ...filter,
    }),
    z.strictObject({
      kind: z.literal("latency"),
      ms: z.int().min(1).max(3_600_000).describe("Limit of the p95 latency, in milliseconds."),
      minutes: windowMinutes,
      min_requests: z.int().min(1).max(100_000),
      ...filter,
    }),
    z.strictObject({
      kind: z.literal("provider_down"),
      minutes: windowMinutes,
      min_attempts: z.int().min(1).max(100_000),
      provider: filter.provider,
    }),
    z.strictObject({
      kind: z.literal("spend_anomaly"),
      span: z.enum(["hour", "day"]),
      factor: z.number().min(1.1).max(100).describe("Times the usual spend of this time of the week."),
      min_usd: z.number().min(0.01).max(1_000_000).describe("Smallest difference to the usual spend, USD."),
      ...filter,
    }),
    z.strictObject({
      kind: z.literal("token_expiry"),
      days: z.array(z.int().min(1).max(90)).min(1).max(5).describe("Days before the expiry."),
      key: id.optional(),
    }),
    z.strictObject({ kind: z.literal("key_request") }),
    z.strictObject({ kind: z.literal("delivery_failure"), failures: z.int().min(1).max(10_000) }),
    z.strictObject({
      kind: z.literal("guardrail_findings"),
      requests: z
        .int()
        .min(1)
        .max(100_000)
        .describe("Requests with findings of a guardrail. Shadow mode does not count."),
      minutes: windowMinutes,
      verdict: z.enum(["blocked", "masked", "flagged"]).optional().describe("Default: any."),
      guardrail: id.optional(),
    }),
    z.strictObject({
      kind: z.literal("guardrail_failure"),
      failures: z.int().min(1).max(100_000).describe("Requests with a failed check."),
      minutes: windowMinutes,
      guardrail: id.optional(),
    }),
    z
      .strictObject({ kind: z.literal("shadow") })
      .describe("The first event of each guardrail, limit, budget and grant in shadow mode, until a day without one."),
    z
      .strictObject({
        kind: z.literal("batch_rows_failed"),
        percent: share.describe("Percent of the rows that have run."),
        min_rows: z.int().min(1).max(100_000).describe("Fewer rows raise no alert."),
      })
      .describe("A batch with failed rows, until an hour after its end."),
    z
      .strictObject({
        kind: z.literal("batch_stuck"),
        hours: z
          .int()
          .min(1)
          .max(168)
          .describe("Hours without progress. A vendor may take a day for a batch that it runs."),
      })
      .describe("An open batch in which no row has ended for this long."),
    z
      .strictObject({
        kind: z.literal("bill_difference"),
        percent: share.describe("Percent of the larger of both amounts of a day."),
        provider: filter.provider,
      })
      .describe(
        "Unexplained differences between a provider's bill and the ledger, in the last two weeks. Rules of the installation only.",
      ),
  ])
  .describe("The condition that raises an alert. `provider_down` is for rules of the installation only.");
export type AlertCondition = z.infer<typeof condition>;

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "a time such as 22:00");
const quietHours = z
  .strictObject({
    from: clockTime,
    to: clockTime,
    time_zone: z.string().max(64).refine(isTimeZone, "an IANA time zone such as Europe/Berlin").describe("IANA name."),
  })
  .describe("Messages wait until `to`. May span midnight. The inbox shows alerts at once.");
export type AlertQuietHours = z.infer<typeof quietHours>;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const ruleName = label.nullable().describe("null: shown by its kind.");

const ruleFields = {
  name: ruleName,
  condition,
  channels: z.array(id).max(10).describe("Ids of channels of the same workspace. Empty: the inbox only."),
  quiet_hours: quietHours.nullable(),
  repeat_hours: z.int().min(1).max(720).nullable().describe("Hours between reminders while open. null: none."),
  send_resolved: z.boolean().describe("Send a message when the alert resolves."),
  enabled: z.boolean(),
  muted_until: maybeAt.describe(
    "No messages until then. Alerts that opened meanwhile and are still open are sent then.",
  ),
};

const alertRuleSchema = z.object({ id, workspace, ...ruleFields, open: count, created_at: at });
export type AlertRule = z.infer<typeof alertRuleSchema>;

const secretUrl = z.url({ protocol: /^https?$/ }).max(2_048);
const target = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("email"), to: z.array(z.email().max(254)).min(1).max(20) }),
  z.strictObject({ kind: z.literal("slack"), url: secretUrl.describe("URL of an incoming webhook.") }),
  z.strictObject({ kind: z.literal("teams"), url: secretUrl.describe("URL of a workflow with a webhook trigger.") }),
  z.strictObject({
    kind: z.literal("pagerduty"),
    routing_key: z.string().regex(/^[A-Za-z0-9]{16,64}$/, "an integration key of the Events API v2"),
    region: z.enum(["us", "eu"]),
  }),
  z.strictObject({ kind: z.literal("webhook"), url: secretUrl }),
]);
export type AlertTarget = z.infer<typeof target>;

const channelFields = {
  name: label,
  target,
  language: language.describe("Language of the messages. Email to a user is in the language of the user, if set."),
  enabled: z.boolean(),
};

const alertChannelSchema = z.object({
  id,
  workspace,
  name: label,
  kind: z.enum(alertChannelKinds),
  destination: z
    .string()
    .nullable()
    .describe("Addresses, or the host of the URL. URLs and keys are never returned. null: only admins may see it."),
  language,
  enabled: z.boolean(),
  created_at: at,
  last: z
    .object({ at, ok: z.boolean(), problem: z.string().nullable(), fault })
    .nullable()
    .describe("Latest delivery. null: none yet."),
});
export type AlertChannel = z.infer<typeof alertChannelSchema>;

const alertSchema = z.object({
  id,
  kind: z.enum(alertKinds),
  severity: z.enum(alertSeverities),
  state: z.enum(alertStates),
  workspace,
  rule: z.object({ id, name: ruleName }),
  facts: z.record(z.string(), z.union([z.string(), z.number()])),
  text: z.string().describe("`facts` as an English sentence."),
  page: z.string().describe("Path of the console's page about the cause, below `/console`."),
  opened_at: at,
  changed_at: at.describe("Last time it opened, got worse, was reminded of, or resolved."),
  last_seen_at: at.describe("Last time the condition held."),
  resolved_at: maybeAt,
  unread: z.boolean().describe("Changed since the caller last marked it as read."),
});
export type Alert = z.infer<typeof alertSchema>;

export const alertDeliverySchema = z.object({
  channel: z.object({ id, name: z.string(), kind: z.enum(alertChannelKinds) }),
  event: z.enum(alertEvents),
  at: at.describe("Time of the event."),
  tries: count,
  sent_at: maybeAt,
  next_at: maybeAt.describe("Next attempt. null: sent, or given up."),
  problem: z.string().nullable(),
  fault,
});
export type AlertDelivery = z.infer<typeof alertDeliverySchema>;

export const alertRoutes = {
  "alerts.list": route({
    method: "GET",
    path: "/api/alerts",
    summary: "List the alerts that you may see, newest first",
    needs: "viewer",
    query: pageQuery.extend({
      workspace: id.optional().describe("Id or slug."),
      state: z.enum(alertStates).optional(),
      kind: z.enum(alertKinds).optional(),
    }),
    answer: pageOf(alertSchema),
  }),
  "alerts.show": route({
    method: "GET",
    path: "/api/alerts/{alert}",
    summary: "Get an alert and its messages",
    needs: "viewer",
    answer: alertSchema.extend({ deliveries: z.array(alertDeliverySchema) }),
  }),
  "inbox.show": route({
    method: "GET",
    path: "/api/inbox",
    summary: "Get your latest alerts, and how many are unread",
    needs: "viewer",
    answer: z.object({ unread: count.describe("At most 100."), data: z.array(alertSchema) }),
  }),
  "inbox.read": route({
    method: "POST",
    path: "/api/inbox/read",
    summary: "Mark alerts as read",
    needs: "viewer",
    body: z.strictObject({ alerts: z.array(id).max(200).nullable().describe("null: all.") }),
    answer: nothing,
  }),
  "alertRules.list": route({
    method: "GET",
    path: "/api/alert-rules",
    summary: "List the alert rules that you may see",
    needs: "viewer",
    answer: pageOf(alertRuleSchema),
  }),
  "alertRules.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/alert-rules",
    summary: "Create an alert rule. `-` as the workspace: for the installation",
    needs: "admin",
    body: z.strictObject(ruleFields),
    answer: alertRuleSchema,
    status: 201,
  }),
  "alertRules.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/alert-rules/{rule}",
    summary: "Update, mute or disable an alert rule",
    needs: "admin",
    body: z.strictObject(ruleFields).partial(),
    answer: alertRuleSchema,
  }),
  "alertRules.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/alert-rules/{rule}",
    summary: "Delete an alert rule",
    needs: "admin",
    answer: nothing,
  }),
  "alertChannels.list": route({
    method: "GET",
    path: "/api/alert-channels",
    summary: "List the alert channels that you may see",
    needs: "viewer",
    answer: pageOf(alertChannelSchema),
  }),
  "alertChannels.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/alert-channels",
    summary: "Create an alert channel. `-` as the workspace: for rules of the installation",
    needs: "admin",
    body: z.strictObject(channelFields),
    answer: alertChannelSchema,
    status: 201,
  }),
  "alertChannels.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/alert-channels/{channel}",
    summary: "Update an alert channel",
    needs: "admin",
    body: z.strictObject(channelFields).partial(),
    answer: alertChannelSchema,
  }),
  "alertChannels.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/alert-channels/{channel}",
    summary: "Delete an alert channel",
    needs: "admin",
    answer: nothing,
  }),
  "alertChannels.test": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/alert-channels/{channel}/test",
    summary: "Send a test message to an alert channel",
    needs: "admin",
    answer: z.object({ ok: z.boolean(), problem: z.string().nullable(), fault, ms }),
  }),
} as const;
