import { z } from "zod";
import { policyFields, policyMatchFields } from "../budget-policies.ts";
import { policyNamesMax } from "../budget-windows.ts";
import { budgetSchema, checkWindow } from "../config-limits.ts";
import { route } from "./route.ts";
import { at, id, managedBy, maybeAt, nothing, pageOf, usd } from "./words.ts";

const ids = z.array(id).min(1).max(policyNamesMax);

const match = z.strictObject({
  workspaces: ids.optional().describe("Ids. Only for budgets of the installation."),
  groups: ids.optional().describe("Ids of groups."),
  keys: ids.optional().describe("Ids of keys."),
  people: ids.optional().describe("Ids of users, who pay for calls by their agents and personal keys."),
  ...policyMatchFields,
});

const fields = {
  ...policyFields,
  match: match.optional().describe("Calls that count. All members must fit. Left out: every call."),
};
const draft = z.strictObject(fields).superRefine(checkWindow);

/** A null removes what may be left out. */
const change = z.strictObject({
  ...fields,
  name: fields.name.optional(),
  usd: fields.usd.optional(),
  period: fields.period.optional(),
  time_zone: fields.time_zone.nullable(),
  increase: fields.increase.nullable(),
  split_by: fields.split_by.nullable(),
});

const usage = {
  limit: usd.describe("USD now, with an increase."),
  used: z
    .number()
    .nullable()
    .describe("USD spent and held in this period. null: it cannot be read, or is not visible."),
  held: z.number().nullable().describe("Part of `used` that is reserved for calls in flight."),
  exhausted: z.boolean().describe("Calls are refused, or served by the fallback. false in shadow mode."),
  resets_at: maybeAt.describe("When the period ends, or some of a rolling window is free again. null: never."),
};

const policySchema = z.object({
  id,
  name: z.string(),
  workspace: z.object({ id, slug: z.string() }).nullable().describe("null: the installation."),
  inherited: z
    .boolean()
    .describe("Of the installation, for calls of the workspace in the path, which cannot change it."),
  enabled: z.boolean(),
  budget: budgetSchema,
  match: match.describe("Without objects that the caller cannot see."),
  split_by: z.string().nullable().describe("null: one amount for all calls."),
  ...usage,
  counters: z
    .array(z.object({ value: z.string(), label: z.string(), ...usage }))
    .describe("Of a split budget, the values that spent the most in this period, at most 20."),
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleBudgetPolicy = z.infer<typeof policySchema>;

export const budgetPolicyRoutes = {
  "budgets.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/budgets",
    summary:
      "List a workspace's budget policies with their usage, also inherited ones of the installation. `-`: only the installation's",
    needs: "viewer",
    answer: pageOf(policySchema),
  }),
  "budgets.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/budgets/{budget}",
    summary: "Get a budget policy with its usage",
    needs: "viewer",
    answer: policySchema,
  }),
  "budgets.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/budgets",
    summary: "Create a budget policy. `-` as the workspace: for the installation",
    needs: "admin",
    body: draft,
    answer: policySchema,
    status: 201,
  }),
  "budgets.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/budgets/{budget}",
    summary: "Update, enable or disable a budget policy, or increase it for a time",
    needs: "admin",
    body: change,
    answer: policySchema,
  }),
  "budgets.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/budgets/{budget}",
    summary: "Delete a budget policy",
    needs: "admin",
    answer: nothing,
  }),
} as const;
