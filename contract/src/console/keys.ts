import { z } from "zod";
import { budgetSchema, limitsSchema } from "../config-limits.ts";
import { route } from "./route.ts";
import { captures, keyStates } from "./states.ts";
import {
  at,
  budgetUse,
  id,
  label,
  managedBy,
  maybeAt,
  pageOf,
  pageQuery,
  passThrough,
  patterns,
  personSchema,
} from "./words.ts";

export const consoleKeySchema = z.object({
  id,
  name: z.string(),
  workspace: z.object({ id, slug: z.string() }),
  group: z.object({ id, name: z.string() }),
  prefix: z.string(),
  last_four: z.string(),
  state: z.enum(keyStates),
  models: patterns.nullable().describe("null: whatever the group may call."),
  pass_through: passThrough,
  allowed_ips: z.array(z.string()).nullable(),
  limits: limitsSchema,
  budget: budgetSchema.nullable(),
  tags: z.record(z.string(), z.string()),
  capture: z.enum(captures).describe("What of its requests is kept, to be looked at: nothing, headers, or bodies too."),
  enabled: z.boolean(),
  expires_at: maybeAt,
  created_at: at,
  created_by: personSchema.nullable(),
  last_used_at: maybeAt,
  revoked_at: maybeAt,
  old_secret_until: maybeAt.describe("After a rotation: until when the secret before still opens."),
  managed_by: managedBy,
  set_by_admins: z
    .array(z.string())
    .describe(
      "Fields that an admin set, or nobody of the console: whoever made the key narrows them, and admins widen them.",
    ),
  owner: personSchema
    .nullable()
    .describe("Of a personal key: whose calls it makes. Their usage and limits count them; null: no one person's."),
  service: z
    .boolean()
    .describe(
      "A service token, for CI and other programs: it always expires, belongs to nobody, and admins manage it.",
    ),
  person: personSchema.optional().describe("Whose sign-ins call with it. Left out for a key that has a secret."),
});
export type ConsoleKey = z.infer<typeof consoleKeySchema>;

/** A key with where its budgets stand. */
export const keyWithUsageSchema = consoleKeySchema.extend(budgetUse);
export type KeyWithUsage = z.infer<typeof keyWithUsageSchema>;

const keyFields = {
  name: label,
  group: id
    .optional()
    .describe(
      "Id or name; default: the group called default. It decides what a key may call at most: admins choose it.",
    )
    .meta({ needs: "admin" }),
  models: patterns.nullable().optional(),
  pass_through: passThrough.optional().meta({ needs: "administrator" }),
  allowed_ips: z.array(z.string().min(1).max(64)).max(1_000).nullable().optional(),
  expires_at: at.nullable().optional(),
  limits: limitsSchema.optional(),
  budget: budgetSchema.nullable().optional(),
  tags: z.record(z.string().max(128), z.string().max(128)).optional(),
  capture: z.enum(captures).optional().meta({ needs: "admin" }),
  owner: id
    .nullable()
    .optional()
    .describe(
      "User id of the person whose calls it makes, who may make keys in the workspace. A member names only themselves, when they make the key, and is its owner anyhow where something limits them; admins change it.",
    ),
};

const made = z.object({ key: consoleKeySchema, secret: z.string().describe("Shown once.") });

export const keyRoutes = {
  "keys.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/keys",
    summary: "Keys by name, with search",
    needs: "viewer",
    query: pageQuery.extend({
      search: z.string().max(256).optional().describe("Part of the name, or how the secret begins or ends."),
      group: id.optional(),
      state: z.enum(keyStates).optional(),
      made_by: id.optional().describe("Only those that this user made."),
      owner: id
        .optional()
        .describe("User id: only the keys whose calls are theirs, personal ones and that of their agents."),
      mine: z.enum(["true", "false"]).optional().describe("Only those the caller made."),
      service: z.enum(["true", "false"]).optional().describe("Only service tokens, or only keys that are none."),
    }),
    answer: pageOf(keyWithUsageSchema),
  }),
  "keys.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/keys",
    summary: "Create a key",
    needs: "member",
    body: z.strictObject({
      ...keyFields,
      service: z
        .boolean()
        .optional()
        .describe("Make it a service token: with `expires_at`, and without a maker, so that nobody's leaving ends it.")
        .meta({ needs: "admin" }),
    }),
    answer: made,
    status: 201,
  }),
  "keys.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/keys/{key}",
    summary: "One key",
    needs: "viewer",
    answer: keyWithUsageSchema,
  }),
  "keys.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/keys/{key}",
    summary: "Change a key: one's own as a member, any as an admin. What an admin set, a member only narrows",
    needs: "member",
    body: z.strictObject({ ...keyFields, name: label.optional(), enabled: z.boolean().optional() }),
    answer: consoleKeySchema,
  }),
  "keys.rotate": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/keys/{key}/rotate",
    summary: "A new secret for a key; the old one still opens for the grace time",
    needs: "member",
    body: z.strictObject({
      grace_seconds: z
        .int()
        .min(0)
        .max(2_592_000)
        .optional()
        .describe("Default 0. The old secret never opens longer than it would have without the rotation."),
      expires_at: at
        .optional()
        .describe("When the key expires from now on. Default: as before; a service token that has expired needs it.")
        .meta({ needs: "admin" }),
    }),
    answer: made,
  }),
  "keys.revoke": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/keys/{key}/revoke",
    summary: "Revoke a key for good",
    needs: "member",
    answer: consoleKeySchema,
  }),
} as const;
