import { z } from "zod";
import { settingsChangeSchema, settingsSchema } from "../config.ts";
import { directoryClaimSchema, graceHoursSchema, oidcScopesSchema, recheckMinutesSchema } from "../config-people.ts";
import { type AuditTargetKind, auditActions, auditTargetKinds } from "./remark-codes.ts";
import { route } from "./route.ts";
import { at, count, countedPageOf, id, label, maybeAt, pageOf, pageQuery } from "./words.ts";

export const oidcAccountSchema = z.object({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "lower-case letters, digits and dashes, at most 32"),
  name: label,
  issuer: z.url({ protocol: /^https?$/ }).max(2_048),
  client_id: z.string().min(1).max(512),
  allowed_domains: z
    .array(z.string().min(1).max(253))
    .max(100)
    .describe(
      "Only addresses in these mail domains can sign in; users are created for new ones. " +
        "Empty: any address, but only users who connected the account in their profile.",
    ),
  second_factor_trusted: z
    .boolean()
    .describe("The issuer checks a second factor itself, so Sluice does not ask for one."),
  scopes: oidcScopesSchema.describe(
    "Scopes in addition to `openid`, `email` and `profile`. Many issuers need `groups`.",
  ),
  offline_access: z.boolean().describe("Request a refresh token, to check with the issuer when agents refresh."),
  recheck_minutes: recheckMinutesSchema.describe("Minimum time between two checks of one user."),
  grace_hours: graceHoursSchema.describe("How long agents keep working while the issuer cannot be reached."),
  directory_claim: directoryClaimSchema
    .nullable()
    .describe(
      "The claim with the directory's id of the user (externalId in SCIM). null: `oid` at Microsoft, otherwise none.",
    ),
});
export type OidcAccountForm = z.infer<typeof oidcAccountSchema>;

export const consoleSettingsSchema = z.object({
  settings: settingsSchema.describe("The current settings, including defaults."),
  managed_by_file: z.array(z.string()).describe("Settings that the config file sets, such as `ledger.durability`."),
  oidc: z.array(
    oidcAccountSchema.extend({
      has_secret: z.boolean(),
      callback_url: z.string(),
      suspended: z
        .boolean()
        .describe(
          "The config file no longer declares this account: sign-in with it is disabled until it is declared again.",
        ),
    }),
  ),
  mail: z.object({ configured: z.boolean(), from: z.string().nullable() }),
  ledger_export: z.object({
    keys: z
      .enum(["own", "blobs"])
      .nullable()
      .describe(
        "Which keys are set in the environment: `own` for SLUICE_LEDGER_EXPORT_…, `blobs` for SLUICE_S3_…. null: neither.",
      ),
    copied_until: maybeAt.describe(
      "End of the last hour that was exported completely. null: none yet, or no export configured.",
    ),
  }),
});
export type ConsoleSettings = z.infer<typeof consoleSettingsSchema>;

export const scimSchema = z.object({
  base_url: z.string().describe("URL to enter in the directory (tenant URL)."),
  users: count,
  inactive: count.describe("How many of the users are inactive."),
  groups: count,
  last_request_at: maybeAt.describe("Last request with a current token, to about a minute. null: none."),
  tokens: count.describe("Number of working SCIM tokens."),
});

export const auditRowSchema = z.object({
  seq: z.int(),
  at,
  actor: z.string(),
  ip: z.string().nullable(),
  workspace: z.object({ id, slug: z.string() }).nullable(),
  action: z.enum(auditActions),
  object: z.string().describe("As text, such as `key acme/ci`."),
  target: z
    .object({ kind: z.enum(auditTargetKinds as [AuditTargetKind, ...AuditTargetKind[]]), name: z.string() })
    .nullable()
    .describe("Type and name of the object. null: a type that this version does not know."),
  before: z.unknown(),
  after: z.unknown(),
});
export type AuditRow = z.infer<typeof auditRowSchema>;

export const systemSchema = z.object({
  version: z.string().describe("Version, with the commit if available: `0.1.0+72c595dc1234`."),
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
  host: z.string().describe("Name of the machine, container or pod."),
  version: z.string().describe("Version, with the commit if available: `0.1.0+72c595dc1234`."),
  started_at: at,
  seen_at: at.describe("Last heartbeat."),
  alive: z
    .boolean()
    .describe("false: no heartbeat for twenty seconds. Processes that stopped normally are not listed."),
  answers: z.boolean().describe("Whether this process sent the response."),
  leader: z.boolean().describe("Whether it does work that only one process does at a time."),
  leads: z
    .array(z.string())
    .describe("Names of that work: `ledger`, `config file` … Occasional work is listed only while it runs."),
  journal_lag: count
    .nullable()
    .describe("Ended calls that were in its journal but not in the ledger at the last heartbeat. null: unknown."),
});
export type GatewayProcess = z.infer<typeof gatewayProcessSchema>;

export const configViewSchema = z.object({
  path: z.string().nullable().describe("null: no config file."),
  text: z.string().nullable().describe("Content of the file, with secrets redacted."),
  manages: z.array(z.object({ kind: z.string(), names: z.array(z.string()), more: count })),
  last_reload: z.object({ at, result: z.enum(["applied", "unchanged", "refused"]), detail: z.string() }).nullable(),
  warnings: z.array(z.string()).describe("The warnings of `sluice check`: settings that are valid but cannot work."),
  as_file: z.string().describe("The whole configuration as a config file, with environment variables for secrets."),
});
export type ConfigView = z.infer<typeof configViewSchema>;

export const settingsRoutes = {
  "settings.show": route({
    method: "GET",
    path: "/api/settings",
    summary: "Get the settings of the installation",
    needs: "administrator",
    answer: consoleSettingsSchema,
  }),
  "settings.update": route({
    method: "PATCH",
    path: "/api/settings",
    summary: "Update settings. Settings in the config file are read-only",
    needs: "administrator",
    fresh: true,
    body: settingsChangeSchema,
    answer: consoleSettingsSchema,
  }),
  "settings.putOidc": route({
    method: "PUT",
    path: "/api/settings/oidc/{account}",
    summary: "Create or update a single sign-on account",
    needs: "administrator",
    fresh: true,
    body: oidcAccountSchema.omit({ id: true }).extend({
      client_secret: z.string().min(1).max(2_048).optional(),
      second_factor_trusted: z.boolean().optional().describe("Default false."),
      scopes: oidcScopesSchema.optional().describe("Default: unchanged, or none."),
      offline_access: z.boolean().optional().describe("Default: unchanged, or false."),
      recheck_minutes: recheckMinutesSchema.optional().describe("Default: unchanged, or 15."),
      grace_hours: graceHoursSchema.optional().describe("Default: unchanged, or 24."),
      directory_claim: directoryClaimSchema.nullable().optional().describe("Default: unchanged, or null."),
    }),
    answer: consoleSettingsSchema,
  }),
  "settings.removeOidc": route({
    method: "DELETE",
    path: "/api/settings/oidc/{account}",
    summary: "Delete a single sign-on account",
    needs: "administrator",
    fresh: true,
    answer: consoleSettingsSchema,
  }),
  "settings.scim": route({
    method: "GET",
    path: "/api/settings/scim",
    summary: "Get the state of SCIM provisioning",
    needs: "administrator",
    answer: scimSchema,
  }),
  "settings.config": route({
    method: "GET",
    path: "/api/settings/config",
    summary: "Get the config file, what it manages, and the whole configuration as a file",
    needs: "administrator",
    answer: configViewSchema,
  }),
  "system.show": route({
    method: "GET",
    path: "/api/system",
    summary: "Get the state of this gateway process",
    needs: "administrator",
    answer: systemSchema,
  }),
  "system.processes": route({
    method: "GET",
    path: "/api/system/processes",
    summary: "List the processes of the installation by start time",
    needs: "administrator",
    answer: pageOf(gatewayProcessSchema),
  }),
  "audit.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/audit",
    summary: "List the audit log, newest first",
    needs: "admin",
    query: pageQuery.extend({
      search: z.string().max(256).optional().describe("Part of the object or the actor."),
      action: z.string().max(64).optional(),
      from: z.coerce.number().int().optional(),
      to: z.coerce.number().int().optional(),
    }),
    answer: countedPageOf(auditRowSchema),
  }),
} as const;
