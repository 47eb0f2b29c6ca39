import { z } from "zod";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { attentionChecks, attentionSeverities, limitScopes } from "./states.ts";
import { count, id } from "./words.ts";

export const attentionItemSchema = z.object({
  severity: z
    .enum(attentionSeverities)
    .describe("`critical`: calls fail or are refused now. `warning`: they will soon, or some do. `notice`: check it."),
  finding: remarkSchema("attention"),
  text: z.string().describe("`finding` in English."),
  workspace: z.object({ id, slug: z.string() }).nullable().describe("null: the installation."),
  subject: z
    .object({
      kind: z.enum([...limitScopes, "admin_token", "provider", "model", "alert", "task", "process", "gateway"]),
      id: z.string(),
      name: z.string(),
    })
    .describe("The object to fix. For a `person`: the user id."),
  alike: count.describe("Further findings with this code that are not listed. On the last one of them."),
});
export type AttentionItem = z.infer<typeof attentionItemSchema>;

export const attentionRoutes = {
  "attention.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/attention",
    summary:
      "List what needs attention now. Members and viewers see their own budgets, keys and errors; the installation is for administrators",
    needs: "viewer",
    answer: z.object({
      data: z.array(attentionItemSchema).describe("Most severe first, at most five with one code."),
      checked: z.array(z.enum(attentionChecks)).describe("Completed checks for this role."),
    }),
  }),
} as const;
