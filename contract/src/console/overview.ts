import { z } from "zod";
import { alertKinds } from "./alert-table.ts";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { attentionChecks, attentionSeverities, limitScopes } from "./states.ts";
import { at, cost, count, id, usd } from "./words.ts";

const attentionItemSchema = z.object({
  severity: z
    .enum(attentionSeverities)
    .describe("`critical`: calls fail or are refused now. `warning`: they will soon, or some do. `notice`: check it."),
  finding: remarkSchema("attention"),
  text: z.string().describe("`finding` in English."),
  workspace: z.object({ id, slug: z.string() }).nullable().describe("null: the installation."),
  subject: z
    .object({
      kind: z.enum([
        ...limitScopes,
        "admin_token",
        "key_request",
        "provider",
        "model",
        "alert",
        "task",
        "process",
        "gateway",
      ]),
      id: z.string(),
      name: z.string(),
    })
    .describe("The object to fix. For a `person`: the user id."),
  alerts: z
    .array(z.object({ id, kind: z.enum(alertKinds), facts: z.record(z.string(), z.union([z.string(), z.number()])) }))
    .describe("The open alerts about it."),
  alike: count.describe("Number of findings with this code that are not listed. 0 except on the last listed one."),
});
export type AttentionItem = z.infer<typeof attentionItemSchema>;

const span = { from: at, to: at };

export const overviewRoutes = {
  "attention.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/attention",
    summary:
      "List what needs attention now. Members and viewers see their own budgets, keys and errors; the installation is for administrators",
    needs: "viewer",
    answer: z.object({
      data: z.array(attentionItemSchema).describe("Most severe first, at most five with one code."),
      checked: z.array(z.enum(attentionChecks)).describe("The checks for the role of the caller."),
    }),
  }),
  "usage.month": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage/month",
    summary: "Get the cost of this month with its forecast and budget, and of the previous month",
    needs: "viewer",
    answer: z.object({
      ...span,
      cost_usd: cost.describe("From the start of the month (UTC) until now, by whole hours."),
      forecast_usd: cost.describe("Cost at the end of the month, at the pace of the last seven days."),
      budget_usd: usd.nullable().describe("Monthly budget of the workspace. null: none, or all workspaces."),
      previous: z
        .object({
          ...span,
          cost_usd: cost.describe("Until the same time of the month."),
          whole_usd: cost.describe("Cost of the whole month."),
        })
        .describe("The previous month."),
    }),
  }),
} as const;
