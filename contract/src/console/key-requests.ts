import { z } from "zod";
import { budgetSchema, limitsSchema } from "../config-limits.ts";
import { consoleKeySchema } from "./keys.ts";
import { route } from "./route.ts";
import { keyRequestStates } from "./states.ts";
import { at, id, label, maybeAt, pageOf, pageQuery, patterns, personSchema } from "./words.ts";

/** The settings of the key that a request is about. */
const wantedFields = {
  name: label,
  group: id.optional().describe("Group id or name. Default: `default`."),
  models: patterns.nullable().optional(),
  limits: limitsSchema.optional(),
  budget: budgetSchema.nullable().optional(),
  expires_at: at.nullable().optional(),
};

const grantSchema = z.object({
  name: z.string(),
  group: z.object({ id, name: z.string() }).nullable().describe("null: the group was deleted."),
  models: patterns.nullable().describe("null: all models of the group."),
  limits: limitsSchema,
  budget: budgetSchema.nullable(),
  expires_at: maybeAt,
});

const keyRequestSchema = z.object({
  id,
  workspace: z.object({ id, slug: z.string() }),
  requester: personSchema.describe("The future owner of the key."),
  purpose: z.string(),
  state: z
    .enum(keyRequestStates)
    .describe("`approved`: the requester can collect the key. `expired`: not decided or not collected in time."),
  requested: grantSchema,
  granted: grantSchema.nullable().describe("The approved settings. null: not approved."),
  reason: z.string().nullable().describe("Why it was declined."),
  decided_by: personSchema.nullable(),
  decided_at: maybeAt,
  created_at: at,
  expires_at: at.describe("Until then it can be decided, or after the approval, collected."),
  key: id.nullable().describe("The key. null: not collected."),
});
export type KeyRequest = z.infer<typeof keyRequestSchema>;

export const keyRequestRoutes = {
  "keyRequests.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/key-requests",
    summary: "List key requests, newest first. Members and viewers see their own",
    needs: "viewer",
    query: pageQuery.extend({ state: z.enum(keyRequestStates).optional() }),
    answer: pageOf(keyRequestSchema),
  }),
  "keyRequests.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/key-requests",
    summary: "Request a key. An admin can approve it within 30 days. A person can have 10 open requests in a workspace",
    needs: "viewer",
    body: z.strictObject({
      ...wantedFields,
      purpose: z.string().trim().min(1).max(1_000).describe("Use of the key, for the admin who decides."),
    }),
    answer: keyRequestSchema,
    status: 201,
  }),
  "keyRequests.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/key-requests/{request}",
    summary: "Get a key request",
    needs: "viewer",
    answer: keyRequestSchema,
  }),
  "keyRequests.approve": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/key-requests/{request}/approve",
    summary: "Approve a key request as requested, or with changes",
    needs: "admin",
    body: z.strictObject({ ...wantedFields, name: label.optional() }).describe("Only changes. Empty: as requested."),
    answer: keyRequestSchema,
  }),
  "keyRequests.decline": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/key-requests/{request}/decline",
    summary: "Decline a key request",
    needs: "admin",
    body: z.strictObject({ reason: z.string().trim().min(1).max(1_000).describe("Shown to the requester.") }),
    answer: keyRequestSchema,
  }),
  "keyRequests.withdraw": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/key-requests/{request}/withdraw",
    summary: "Withdraw your key request. Admins can also withdraw approvals of keys that were not collected",
    needs: "viewer",
    answer: keyRequestSchema,
  }),
  "keyRequests.collect": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/key-requests/{request}/collect",
    summary: "Create the approved key and get its secret. Only its requester can, once",
    needs: "viewer",
    body: z.strictObject({ name: label.optional().describe("Another name, if the approved one is in use.") }),
    answer: z.object({ key: consoleKeySchema, secret: z.string().describe("Shown once.") }),
    status: 201,
  }),
} as const;
