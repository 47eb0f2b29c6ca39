import { z } from "zod";
import { settingsChangeSchema, settingsSchema } from "../config.ts";
import { directoryClaimSchema, graceHoursSchema, oidcScopesSchema, recheckMinutesSchema } from "../config-people.ts";
import { remarkSchema } from "./remark.ts";
import { type AuditTargetKind, auditActions, auditTargetKinds } from "./remark-codes.ts";
import { route } from "./route.ts";
import { limitScopes } from "./states.ts";
import { at, count, id, label, maybeAt, ms, nothing, pageOf, pageQuery } from "./words.ts";

export const oidcAccountSchema = z.object({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "lower-case letters, digits and dashes, at most 32"),
  name: label,
  issuer: z.url({ protocol: /^https?$/ }).max(2_048),
  client_id: z.string().min(1).max(512),
  allowed_domains: z
    .array(z.string().min(1).max(253))
    .max(100)
    .describe(
      "It signs in people with an address in these mail domains only, and makes an account for those who have none. " +
        "Empty: any address, and only people who connected it under their profile.",
    ),
  second_factor_trusted: z
    .boolean()
    .describe("It asks for a second factor itself: people who have one here are not asked again."),
  scopes: oidcScopesSchema.describe("Asked for beside `openid`, `email` and `profile`: `groups` with many issuers."),
  offline_access: z
    .boolean()
    .describe("It is asked for a refresh token, and asked again when agents of its people refresh."),
  recheck_minutes: recheckMinutesSchema.describe("How often at most it is asked again of one person."),
  grace_hours: graceHoursSchema.describe("How long after its last word agents go on while it does not answer."),
  directory_claim: directoryClaimSchema
    .nullable()
    .describe(
      "The claim that holds a directory's id of the person (SCIM's externalId); null: `oid` at Microsoft, else none.",
    ),
});
export type OidcAccountForm = z.infer<typeof oidcAccountSchema>;

export const consoleSettingsSchema = z.object({
  settings: settingsSchema.describe("What is in force, defaults filled in."),
  managed_by_file: z.array(z.string()).describe("Names that the config file sets: `ledger.durability` …"),
  oidc: z.array(
    oidcAccountSchema.extend({
      has_secret: z.boolean(),
      callback_url: z.string(),
      suspended: z
        .boolean()
        .describe(
          "The config file no longer declares this account: sign-in with it is off until the file declares it again.",
        ),
    }),
  ),
  mail: z.object({ configured: z.boolean(), from: z.string().nullable() }),
  ledger_export: z.object({
    keys: z
      .enum(["own", "blobs"])
      .nullable()
      .describe(
        "Which keys the environment has for it: SLUICE_LEDGER_EXPORT_…, or those of SLUICE_S3_… in their place. null: neither.",
      ),
    copied_until: maybeAt.describe("The end of the last hour that is there whole. null: none is, or it is not set."),
  }),
});
export type ConsoleSettings = z.infer<typeof consoleSettingsSchema>;

export const scimSchema = z.object({
  base_url: z.string().describe("What a directory is told: its tenant URL."),
  users: count,
  inactive: count.describe("Of the users, those who are switched off."),
  groups: count,
  last_request_at: maybeAt.describe("By a token that there is, right to about a minute. null: none came."),
  tokens: count.describe("Tokens that a directory can call with now."),
});

export const auditRowSchema = z.object({
  seq: z.int(),
  at,
  actor: z.string(),
  ip: z.string().nullable(),
  workspace: z.object({ id, slug: z.string() }).nullable(),
  action: z.enum(auditActions),
  object: z.string().describe("In words: `key acme/ci`."),
  target: z
    .object({ kind: z.enum(auditTargetKinds as [AuditTargetKind, ...AuditTargetKind[]]), name: z.string() })
    .nullable()
    .describe("The same as its kind and its name. null: it is of a kind that this version does not know."),
  before: z.unknown(),
  after: z.unknown(),
});
export type AuditRow = z.infer<typeof auditRowSchema>;

export const systemSchema = z.object({
  version: z.string().describe("With the commit behind a plus where it is known: `0.1.0+72c595dc1234`."),
  started_at: at,
  database: z.object({ kind: z.enum(["sqlite", "postgres"]), size_bytes: count.nullable() }),
  ledger: z.object({ entries: count, lag: count, healthy: z.boolean() }),
  memory_bytes: count,
  streams_open: count,
  reservations_open: count,
});
export type SystemFacts = z.infer<typeof systemSchema>;

export const gatewayProcessSchema = z.object({
  id: z.string().describe("`proc_…`, as in its log."),
  host: z.string().describe("The name of its machine, container or pod."),
  version: z.string().describe("With the commit behind a plus where it is known: `0.1.0+72c595dc1234`."),
  started_at: at,
  seen_at: at.describe("When it last told the database that it is there."),
  alive: z.boolean().describe("false: it was not heard of for twenty seconds. One that ended in order is not listed."),
  answers: z.boolean().describe("This answer comes from it."),
  leader: z.boolean().describe("It does work that one process does for all."),
  leads: z
    .array(z.string())
    .describe("Which: `ledger`, `config file` … Work that is done now and then is listed only while it is done."),
  journal_lag: count
    .nullable()
    .describe("Ended calls that were in its journal and not in the ledger when it was seen. null: it did not say."),
});
export type GatewayProcess = z.infer<typeof gatewayProcessSchema>;

export const configViewSchema = z.object({
  path: z.string().nullable().describe("null: no config file."),
  text: z.string().nullable().describe("As it stands, with what looks like a secret redacted."),
  manages: z.array(z.object({ kind: z.string(), names: z.array(z.string()), more: count })),
  last_reload: z.object({ at, result: z.enum(["applied", "unchanged", "refused"]), detail: z.string() }).nullable(),
  warnings: z
    .array(z.string())
    .describe("A line for each setting in it that is valid and cannot work, as `sluice check` prints them."),
  as_file: z
    .string()
    .describe("Everything there is, as a config file; a name of the environment stands for each secret."),
});
export type ConfigView = z.infer<typeof configViewSchema>;

const channel = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("webhook"), url: z.url({ protocol: /^https?$/ }).max(2_048) }),
  z.strictObject({ kind: z.literal("email"), to: z.array(z.email().max(254)).min(1).max(20) }),
]);
export type NoticeChannel = z.infer<typeof channel>;

const noticeFields = {
  name: label,
  percent: z.array(z.int().min(1).max(100)).min(1).max(10).describe("Of a budget: told once a period at each."),
  scope: z
    .enum(limitScopes)
    .nullable()
    .describe(
      "null: every budget of the workspace, and service tokens that end within a week, and a day. `key`: of keys.",
    ),
  scope_id: id.nullable().describe("Of a person the user's id."),
  channel,
  enabled: z.boolean(),
};
const fault = remarkSchema("alert").nullable().describe("`problem` by code; null: there is none, or it has no code.");
export const noticeSchema = z.object({
  id,
  ...noticeFields,
  channel: channel.meta({ needs: "admin" }).describe("An address for messages often opens by itself, like a secret."),
  created_at: at,
  last: z
    .object({
      at,
      about: z.enum(["budget", "service_token"]),
      budget: z.string().describe("Of a service token its name."),
      percent: z.int().describe("Of a service token the days that were left."),
      ok: z.boolean(),
      problem: z.string().nullable(),
      fault,
    })
    .nullable(),
});
export type Notice = z.infer<typeof noticeSchema>;

export const settingsRoutes = {
  "settings.show": route({
    method: "GET",
    path: "/api/settings",
    summary: "Settings of the installation",
    needs: "administrator",
    answer: consoleSettingsSchema,
  }),
  "settings.update": route({
    method: "PATCH",
    path: "/api/settings",
    summary: "Change settings; those the config file sets are read-only",
    needs: "administrator",
    fresh: true,
    body: settingsChangeSchema,
    answer: consoleSettingsSchema,
  }),
  "settings.putOidc": route({
    method: "PUT",
    path: "/api/settings/oidc/{account}",
    summary: "Add or change an account of single sign-on",
    needs: "administrator",
    fresh: true,
    body: oidcAccountSchema.omit({ id: true }).extend({
      client_secret: z.string().min(1).max(2_048).optional(),
      second_factor_trusted: z.boolean().optional().describe("Default false."),
      scopes: oidcScopesSchema.optional().describe("Default: as before, or none."),
      offline_access: z.boolean().optional().describe("Default: as before, or false."),
      recheck_minutes: recheckMinutesSchema.optional().describe("Default: as before, or 15."),
      grace_hours: graceHoursSchema.optional().describe("Default: as before, or 24."),
      directory_claim: directoryClaimSchema.nullable().optional().describe("Default: as before, or null."),
    }),
    answer: consoleSettingsSchema,
  }),
  "settings.removeOidc": route({
    method: "DELETE",
    path: "/api/settings/oidc/{account}",
    summary: "Remove an account of single sign-on",
    needs: "administrator",
    fresh: true,
    answer: consoleSettingsSchema,
  }),
  "settings.scim": route({
    method: "GET",
    path: "/api/settings/scim",
    summary: "Users and groups by SCIM: where, how many, and when the directory last called",
    needs: "administrator",
    answer: scimSchema,
  }),
  "settings.config": route({
    method: "GET",
    path: "/api/settings/config",
    summary: "The config file, what it manages, and everything as one",
    needs: "administrator",
    answer: configViewSchema,
  }),
  "system.show": route({
    method: "GET",
    path: "/api/system",
    summary: "How the gateway itself is",
    needs: "administrator",
    answer: systemSchema,
  }),
  "system.processes": route({
    method: "GET",
    path: "/api/system/processes",
    summary: "The processes of the installation, in the order of their starts",
    needs: "administrator",
    answer: pageOf(gatewayProcessSchema),
  }),
  "audit.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/audit",
    summary: "Who changed what, newest first, with before and after",
    needs: "admin",
    query: pageQuery.extend({
      search: z.string().max(256).optional().describe("Part of the object or the actor."),
      action: z.string().max(64).optional(),
      from: z.coerce.number().int().optional(),
      to: z.coerce.number().int().optional(),
    }),
    answer: pageOf(auditRowSchema),
  }),
  "notices.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/notices",
    summary:
      "Alerts on budgets (notices). Members and viewers see none on the budget of another person or of another's own key",
    needs: "viewer",
    answer: pageOf(noticeSchema),
  }),
  "notices.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/notices",
    summary: "Create an alert: be told when a budget reaches a threshold",
    needs: "admin",
    body: z.strictObject(noticeFields),
    answer: noticeSchema,
    status: 201,
  }),
  "notices.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/notices/{notice}",
    summary: "Edit an alert",
    needs: "admin",
    body: z.strictObject(noticeFields).partial(),
    answer: noticeSchema,
  }),
  "notices.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/notices/{notice}",
    summary: "Remove an alert",
    needs: "admin",
    answer: nothing,
  }),
  "notices.test": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/notices/{notice}/test",
    summary: "Send a test of an alert",
    needs: "admin",
    answer: z.object({ ok: z.boolean(), problem: z.string().nullable(), fault, ms }),
  }),
} as const;
