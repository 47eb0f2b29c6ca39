import { z } from "zod";
import { budgetSchema, limitsSchema } from "../config-limits.ts";
import { workspaceRoles } from "./roles.ts";
import { route } from "./route.ts";
import { accessReasons } from "./states.ts";
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
} from "./words.ts";

const slug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "lower-case letters, digits and dashes, at most 63");
const onlyAdministrators = { needs: "administrator" } as const;

export const consoleGroupSchema = z.object({
  id,
  name: z.string(),
  models: patterns,
  pass_through: passThrough,
  limits: limitsSchema,
  budget: budgetSchema.nullable(),
  keys: count,
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleGroup = z.infer<typeof consoleGroupSchema>;

/** A group with where its budgets stand. */
export const groupWithUsageSchema = consoleGroupSchema.extend(budgetUse);
export type GroupWithUsage = z.infer<typeof groupWithUsageSchema>;

export const consoleWorkspaceSchema = z.object({
  id,
  slug: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  models: patterns,
  pass_through: passThrough,
  limits: limitsSchema,
  budget: budgetSchema.nullable(),
  role: z.enum(workspaceRoles).describe("The caller's own role here."),
  groups: count,
  keys: count,
  members: count,
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleWorkspace = z.infer<typeof consoleWorkspaceSchema>;

/** A workspace with where its budget stands. */
export const workspaceWithUsageSchema = consoleWorkspaceSchema.extend(budgetUse);
export type WorkspaceWithUsage = z.infer<typeof workspaceWithUsageSchema>;

export const memberSchema = personSchema.extend({
  role: z.enum(workspaceRoles),
  since: at,
  disabled: z.boolean(),
  limits: limitsSchema.describe("Of all that counts for them here: calls of their agents and of their own keys."),
  budget: budgetSchema.nullable(),
});
export type Member = z.infer<typeof memberSchema>;

/** A member with where their budgets stand. */
export const memberWithUsageSchema = memberSchema.extend(budgetUse);
export type MemberWithUsage = z.infer<typeof memberWithUsageSchema>;

export const accessTableSchema = z.object({
  models: z.array(z.object({ name: z.string(), type: z.string() })),
  keys: z.array(
    z.object({
      id,
      name: z.string(),
      group: z.object({ id, name: z.string() }),
      cells: z.array(z.enum(accessReasons)).describe("One for each of `models`, in their order."),
    }),
  ),
  next: z.string().nullable().describe("The following keys."),
  next_models: z.string().nullable().describe("The following models."),
});
export type AccessTable = z.infer<typeof accessTableSchema>;

/** One cell explained: what each of the three says, and which of its patterns decides. */
export const accessCheckSchema = z.object({
  key: z.object({ id, name: z.string() }),
  model: z.string(),
  allowed: z.boolean(),
  reason: z.enum(accessReasons),
  steps: z.array(
    z.object({
      scope: z.enum(["workspace", "group", "key"]),
      label: z.string(),
      patterns: patterns.nullable().describe("null: says nothing of its own."),
      matched: z.string().nullable().describe("The pattern that lets the model through."),
      allowed: z.boolean(),
    }),
  ),
  deployments: count.describe("Enabled deployments that could serve."),
  fallbacks: z.array(z.object({ model: z.string(), allowed: z.boolean() })),
});
export type AccessCheck = z.infer<typeof accessCheckSchema>;

const groupBody = z.strictObject({
  name: slug,
  models: patterns.optional(),
  pass_through: passThrough.optional().meta(onlyAdministrators),
  limits: limitsSchema.optional(),
  budget: budgetSchema.nullable().optional(),
});

export const workspaceRoutes = {
  "workspaces.list": route({
    method: "GET",
    path: "/api/workspaces",
    summary: "The workspaces one belongs to; an administrator sees all",
    needs: "signed-in",
    query: pageQuery.extend({ search: z.string().max(256).optional() }),
    answer: pageOf(workspaceWithUsageSchema),
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
    summary: "One workspace, by id or slug",
    needs: "viewer",
    answer: workspaceWithUsageSchema,
  }),
  "workspaces.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}",
    summary: "Change a workspace. What bounds it is for administrators",
    needs: "owner",
    body: z.strictObject({
      name: label.optional(),
      models: patterns.optional().meta(onlyAdministrators),
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
    summary: "Remove a workspace that has no key in use; its ledger entries stay",
    needs: "administrator",
    fresh: true,
    answer: nothing,
  }),
  "workspaces.webhookSecret": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/webhook-secret",
    summary: "What receivers check webhooks of a workspace with. Who looked is in the audit log",
    needs: "admin",
    fresh: true,
    answer: z.object({ secret: z.string().describe("`whsec_` and base64, as Standard Webhooks has it.") }),
  }),
  "groups.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/groups",
    summary: "The groups of a workspace",
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
    summary: "Change a group",
    needs: "admin",
    body: groupBody.partial(),
    answer: consoleGroupSchema,
  }),
  "groups.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/groups/{group}",
    summary: "Remove a group that has no keys in use",
    needs: "admin",
    answer: nothing,
  }),
  "members.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/members",
    summary: "Who belongs to a workspace",
    needs: "viewer",
    answer: pageOf(memberWithUsageSchema),
  }),
  "members.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/members/{user}",
    summary: "Change a member's role, limits or budget: neither their role nor the new one above one's own",
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
    summary: "Remove a member, or leave. A workspace keeps its last owner",
    needs: "viewer",
    body: z.strictObject({ keys: leaverKeysSchema.optional() }),
    answer: nothing,
  }),
  "access.table": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/access",
    summary: "What each key may call, and why not",
    needs: "viewer",
    query: pageQuery.extend({
      search: z.string().max(256).optional().describe("Part of a key's name."),
      key: id.optional().describe("Only this key."),
      model: z.string().max(256).optional().describe("Part of a model's name."),
      models_cursor: z.string().max(512).optional(),
      callable: z
        .enum(["true", "false"])
        .optional()
        .describe("Only models that the key named by `key` may call, or only those that it may not."),
    }),
    answer: accessTableSchema,
  }),
  "access.check": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/access/{key}",
    summary: "Why one key may or may not call one model",
    needs: "viewer",
    query: z.object({ model: z.string().min(1).max(256) }),
    answer: accessCheckSchema,
  }),
} as const;
