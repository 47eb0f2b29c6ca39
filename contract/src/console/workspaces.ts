import { z } from "zod";
import { budgetSchema, enforceModels, enforceModelsSchema, limitsSchema } from "../config-limits.ts";
import { workspaceRoles } from "./roles.ts";
import { route } from "./route.ts";
import { accessReasons, workspaceSorts } from "./states.ts";
import {
  at,
  budgetUse,
  count,
  id,
  label,
  leaverKeysSchema,
  managedBy,
  nothing,
  pageOf,
  pageQuery,
  passThrough,
  patterns,
  personSchema,
  totalPageOf,
} from "./words.ts";

const slug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "lower-case letters, digits and dashes, at most 63");
const onlyAdministrators = { needs: "administrator" } as const;

export const consoleGroupSchema = z.object({
  id,
  name: z.string(),
  models: patterns,
  enforce_models: enforceModels,
  pass_through: passThrough,
  limits: limitsSchema,
  budget: budgetSchema.nullable(),
  keys: count,
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleGroup = z.infer<typeof consoleGroupSchema>;

/** A group with the state of its budgets. */
export const groupWithUsageSchema = consoleGroupSchema.extend(budgetUse);
export type GroupWithUsage = z.infer<typeof groupWithUsageSchema>;

export const consoleWorkspaceSchema = z.object({
  id,
  slug: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  models: patterns,
  enforce_models: enforceModels,
  pass_through: passThrough,
  limits: limitsSchema,
  budget: budgetSchema.nullable(),
  role: z.enum(workspaceRoles).describe("The caller's role."),
  groups: count,
  keys: count,
  members: count,
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleWorkspace = z.infer<typeof consoleWorkspaceSchema>;

/** A workspace with the state of its budget. */
export const workspaceWithUsageSchema = consoleWorkspaceSchema.extend(budgetUse);
export type WorkspaceWithUsage = z.infer<typeof workspaceWithUsageSchema>;

export const memberSchema = personSchema.extend({
  role: z.enum(workspaceRoles),
  since: at,
  disabled: z.boolean(),
  limits: limitsSchema.describe("Limits of the member's calls in this workspace, with agents and personal keys."),
  budget: budgetSchema.nullable(),
});
export type Member = z.infer<typeof memberSchema>;

/** A member with the state of their budgets. */
export const memberWithUsageSchema = memberSchema.extend(budgetUse);
export type MemberWithUsage = z.infer<typeof memberWithUsageSchema>;

export const accessTableSchema = z.object({
  models: z.array(z.object({ name: z.string(), type: z.string() })),
  keys: z.array(
    z.object({
      id,
      name: z.string(),
      group: z.object({ id, name: z.string() }),
      cells: z.array(z.enum(accessReasons)).describe("One for each of `models`, in that order."),
    }),
  ),
  keys_total: count.describe("Keys that match, on all pages."),
  models_total: count.describe("Models that match, on all pages."),
  next: z.string().nullable().describe("Cursor for the next keys."),
  next_models: z.string().nullable().describe("Cursor for the next models."),
});
export type AccessTable = z.infer<typeof accessTableSchema>;

/** Explains one cell: the patterns of workspace, group and key, and which one decides. */
export const accessCheckSchema = z.object({
  key: z.object({ id, name: z.string() }),
  model: z.string(),
  allowed: z.boolean(),
  reason: z.enum(accessReasons),
  steps: z.array(
    z.object({
      scope: z.enum(["workspace", "group", "key"]),
      label: z.string(),
      patterns: patterns.nullable().describe("null: no patterns at this level."),
      matched: z.string().nullable().describe("The pattern that allows the model."),
      allowed: z.boolean().describe("Also true without a match, if the patterns are in shadow mode."),
    }),
  ),
  deployments: count.describe("Number of enabled deployments."),
  fallbacks: z.array(z.object({ model: z.string(), allowed: z.boolean() })),
});
export type AccessCheck = z.infer<typeof accessCheckSchema>;

const groupBody = z.strictObject({
  name: slug,
  models: patterns.optional(),
  enforce_models: enforceModelsSchema,
  pass_through: passThrough.optional().meta(onlyAdministrators),
  limits: limitsSchema.optional(),
  budget: budgetSchema.nullable().optional(),
});

export const workspaceRoutes = {
  "workspaces.list": route({
    method: "GET",
    path: "/api/workspaces",
    summary: "List workspaces. Administrators see all, others their own",
    needs: "signed-in",
    query: pageQuery.extend({
      search: z.string().max(256).optional(),
      sort: z.enum(workspaceSorts).optional().describe("Default: `name`. `-`: descending."),
    }),
    answer: totalPageOf(workspaceWithUsageSchema),
  }),
  "workspaces.create": route({
    method: "POST",
    path: "/api/workspaces",
    summary: "Create a workspace with its first group, `default`",
    needs: "administrator",
    body: z.strictObject({
      slug,
      name: label.optional(),
      models: patterns.optional(),
      enforce_models: enforceModelsSchema,
      pass_through: passThrough.optional(),
      limits: limitsSchema.optional(),
      budget: budgetSchema.nullable().optional(),
    }),
    answer: consoleWorkspaceSchema,
    status: 201,
  }),
  "workspaces.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}",
    summary: "Get a workspace by id or slug",
    needs: "viewer",
    answer: workspaceWithUsageSchema,
  }),
  "workspaces.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}",
    summary: "Update a workspace. Owners can change only its name",
    needs: "owner",
    body: z.strictObject({
      name: label.optional(),
      models: patterns.optional().meta(onlyAdministrators),
      enforce_models: enforceModelsSchema.meta(onlyAdministrators),
      pass_through: passThrough.optional().meta(onlyAdministrators),
      limits: limitsSchema.optional().meta(onlyAdministrators),
      budget: budgetSchema.nullable().optional().meta(onlyAdministrators),
      enabled: z.boolean().optional().meta(onlyAdministrators),
    }),
    answer: consoleWorkspaceSchema,
  }),
  "workspaces.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}",
    summary: "Delete a workspace without keys in use. Its ledger entries are kept",
    needs: "administrator",
    fresh: true,
    answer: nothing,
  }),
  "workspaces.webhookSecret": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/webhook-secret",
    summary: "Get the secret that signs a workspace's webhooks. Access is recorded in the audit log",
    needs: "admin",
    fresh: true,
    answer: z.object({ secret: z.string().describe("`whsec_` and base64, as in Standard Webhooks.") }),
  }),
  "groups.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/groups",
    summary: "List the groups of a workspace",
    needs: "viewer",
    answer: pageOf(groupWithUsageSchema),
  }),
  "groups.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/groups",
    summary: "Create a group",
    needs: "admin",
    body: groupBody,
    answer: consoleGroupSchema,
    status: 201,
  }),
  "groups.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/groups/{group}",
    summary: "Update a group",
    needs: "admin",
    body: groupBody.partial(),
    answer: consoleGroupSchema,
  }),
  "groups.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/groups/{group}",
    summary: "Delete a group without keys in use",
    needs: "admin",
    answer: nothing,
  }),
  "members.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/members",
    summary: "List the members of a workspace",
    needs: "viewer",
    answer: pageOf(memberWithUsageSchema),
  }),
  "members.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/members/{user}",
    summary: "Update a member's role, limits or budget. Neither the old nor the new role may be above the caller's",
    needs: "admin",
    body: z.strictObject({
      role: z.enum(workspaceRoles).optional(),
      limits: limitsSchema.optional(),
      budget: budgetSchema.nullable().optional(),
    }),
    answer: memberSchema,
  }),
  "members.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/members/{user}",
    summary: "Remove a member, or leave. The last owner of a workspace cannot be removed",
    needs: "viewer",
    body: z.strictObject({ keys: leaverKeysSchema.optional() }),
    answer: nothing,
  }),
  "access.table": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/access",
    summary: "List the models that each key may call, with the reason for each that it may not",
    needs: "viewer",
    query: pageQuery.extend({
      search: z.string().max(256).optional().describe("Part of a key's name."),
      key: id.optional().describe("Filter by key."),
      model: z.string().max(256).optional().describe("Part of a model's name."),
      models_cursor: z.string().max(512).optional(),
      callable: z
        .enum(["true", "false"])
        .optional()
        .describe("Filter by whether the key named by `key` may call the model."),
    }),
    answer: accessTableSchema,
  }),
  "access.check": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/access/{key}",
    summary: "Explain why a key may or may not call a model",
    needs: "viewer",
    query: z.object({ model: z.string().min(1).max(256) }),
    answer: accessCheckSchema,
  }),
} as const;
