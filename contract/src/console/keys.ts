import { z } from "zod";
import { tagsSchema } from "../config.ts";
import {
  budgetSchema,
  enforceAllowedIps,
  enforceAllowedIpsSchema,
  enforceModels,
  enforceModelsSchema,
  limitsSchema,
} from "../config-limits.ts";
import { route } from "./route.ts";
import { captures, keySorts, keyStates, keysChangedMax } from "./states.ts";
import {
  at,
  budgetUse,
  cost,
  id,
  label,
  managedBy,
  maybeAt,
  pageQuery,
  passThrough,
  patterns,
  personSchema,
  totalPageOf,
} from "./words.ts";

export const consoleKeySchema = z.object({
  id,
  name: z.string(),
  workspace: z.object({ id, slug: z.string() }),
  group: z.object({ id, name: z.string() }),
  prefix: z.string(),
  last_four: z.string(),
  state: z.enum(keyStates),
  models: patterns.nullable().describe("null: all models of the group."),
  enforce_models: enforceModels,
  pass_through: passThrough,
  allowed_ips: z.array(z.string()).nullable(),
  enforce_allowed_ips: enforceAllowedIps,
  limits: limitsSchema,
  budget: budgetSchema.nullable(),
  tags: z.record(z.string(), z.string()),
  capture: z.enum(captures).describe("Parts of its requests to store: none, headers, or headers and bodies."),
  enabled: z.boolean(),
  expires_at: maybeAt,
  created_at: at,
  created_by: personSchema.nullable(),
  last_used_at: maybeAt,
  revoked_at: maybeAt,
  old_secret_until: maybeAt.describe("End of the grace period of the previous secret after a rotation."),
  managed_by: managedBy,
  set_by_admins: z
    .array(z.string())
    .describe(
      "Fields that an admin set, or that were not set in the console. The creator and the owner of the key can only restrict them further; admins can change them freely.",
    ),
  owner: personSchema
    .nullable()
    .describe("Owner of a personal key. Its calls count as the owner's usage. null: not a personal key."),
  service: z
    .boolean()
    .describe("A service token for CI and other programs. It always expires, has no owner, and is managed by admins."),
  person: personSchema
    .optional()
    .describe("User with agent sign-ins that use this key. Left out for keys with a secret."),
});
export type ConsoleKey = z.infer<typeof consoleKeySchema>;

/** A key with the state of its budgets. */
export const keyWithUsageSchema = consoleKeySchema.extend(budgetUse);
export type KeyWithUsage = z.infer<typeof keyWithUsageSchema>;

/** A key in a list. */
export const listedKeySchema = keyWithUsageSchema.extend({
  spend_usd: cost
    .nullable()
    .describe("USD spent in the last 30 days (UTC) and today. null: not visible to the caller."),
});
export type ListedKey = z.infer<typeof listedKeySchema>;

const keyFields = {
  name: label,
  group: id
    .optional()
    .describe("Group id or name. Default: `default`. It limits what the key may call, so only admins choose it.")
    .meta({ needs: "admin" }),
  models: patterns.nullable().optional(),
  enforce_models: enforceModelsSchema,
  pass_through: passThrough.optional().meta({ needs: "administrator" }),
  allowed_ips: z.array(z.string().min(1).max(64)).max(1_000).nullable().optional(),
  enforce_allowed_ips: enforceAllowedIpsSchema,
  expires_at: at.nullable().optional(),
  limits: limitsSchema.optional(),
  budget: budgetSchema.nullable().optional(),
  tags: tagsSchema.optional(),
  capture: z.enum(captures).optional().meta({ needs: "admin" }),
  owner: id
    .nullable()
    .optional()
    .describe(
      "User id of the owner, who must be allowed to create keys in the workspace. Members can name only themselves, when they create the key, and are always the owner if a limit applies to them. Admins can change it.",
    ),
};

const made = z.object({ key: consoleKeySchema, secret: z.string().describe("Shown once.") });

export const keyRoutes = {
  "keys.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/keys",
    summary: "List keys",
    needs: "viewer",
    query: pageQuery.extend({
      search: z.string().max(256).optional().describe("Part of the name, or the beginning or end of the secret."),
      group: id.optional(),
      state: z.enum(keyStates).optional(),
      user: id.optional().describe("User id. Filter by keys that they created or own."),
      owner: id.optional().describe("User id. Filter by owner: personal keys and the key of the user's agents."),
      leaver: id
        .optional()
        .describe(
          "User id. Filter by keys that need a decision before this user can leave the workspace, or the installation: keys in use that they created or own, except keys of the config file.",
        ),
      mine: z.enum(["true", "false"]).optional().describe("true: only keys that the caller created or owns."),
      callable: z
        .enum(["true", "false"])
        .optional()
        .describe(
          "true: only keys that the caller may call with from the console: their personal keys, and shared keys that they created. Admins of the workspace may use every shared key.",
        ),
      service: z.enum(["true", "false"]).optional().describe("Filter by whether the key is a service token."),
      model: z.string().max(256).optional().describe("Model name. Filter by keys that are allowed to call the model."),
      tag: z.string().max(257).optional().describe("Tag name, or `name:value`."),
      expires_before: z.coerce
        .number()
        .int()
        .nonnegative()
        .optional()
        .describe("Unix milliseconds. Filter by keys that expire before this time and have not expired yet."),
      unused_since: z.coerce
        .number()
        .int()
        .nonnegative()
        .optional()
        .describe("Unix milliseconds. Filter by keys without a call since this time, to the hour."),
      sort: z
        .enum(keySorts)
        .optional()
        .describe(
          "Default: `name`. `budget`: used share of the key's own budget; `spend`: USD in the last 30 days. `-`: descending.",
        ),
    }),
    answer: totalPageOf(listedKeySchema),
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
        .describe("Create a service token. It needs `expires_at` and has no creator, so it survives when people leave.")
        .meta({ needs: "admin" }),
    }),
    answer: made,
    status: 201,
  }),
  "keys.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/keys/{key}",
    summary: "Get a key",
    needs: "viewer",
    answer: keyWithUsageSchema,
  }),
  "keys.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/keys/{key}",
    summary: "Update a key. Members can update only keys that they created or own, and only restrict what an admin set",
    needs: "member",
    body: z.strictObject({ ...keyFields, name: label.optional(), enabled: z.boolean().optional() }),
    answer: consoleKeySchema,
  }),
  "keys.changeMany": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/keys/changes",
    summary: "Change or revoke several keys. Each key is changed on its own, with its own audit entry",
    needs: "member",
    body: z.strictObject({
      keys: z.array(id).min(1).max(keysChangedMax).describe("Key ids."),
      revoke: z.literal(true).optional().describe("Revoke the keys permanently. Cannot be combined with `changes`."),
      changes: z
        .strictObject({
          enabled: z.boolean().optional(),
          group: keyFields.group,
          owner: keyFields.owner,
          limits: keyFields.limits.describe(
            "Replaces the limits of each key. `fail` and `enforce` stay if they are left out.",
          ),
          budget: keyFields.budget.describe(
            "Replaces the budget of each key; `fail` and `enforce` stay if they are left out. null: no budget.",
          ),
          add_tags: keyFields.tags.describe("Added to the tags of each key; a tag of the same name is replaced."),
          remove_tags: z
            .array(z.string().max(128))
            .max(16)
            .optional()
            .describe("Names of tags, removed before others are added."),
        })
        .optional(),
    }),
    answer: z.object({
      changed: z.array(id).describe("Ids of the keys that are now as requested."),
      failed: z
        .array(z.object({ key: id, code: z.string(), message: z.string() }))
        .describe("The keys that did not change, each with the reason."),
    }),
  }),
  "keys.rotate": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/keys/{key}/rotate",
    summary: "Rotate a key's secret. The old secret works until the grace period ends",
    needs: "member",
    body: z.strictObject({
      grace_seconds: z
        .int()
        .min(0)
        .max(2_592_000)
        .optional()
        .describe("Default 0. The old secret never works longer than it would have without the rotation."),
      expires_at: at
        .optional()
        .describe("New expiry. Default: unchanged. Required for a service token that has expired.")
        .meta({ needs: "admin" }),
    }),
    answer: made,
  }),
  "keys.revoke": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/keys/{key}/revoke",
    summary: "Revoke a key permanently",
    needs: "member",
    answer: consoleKeySchema,
  }),
} as const;
