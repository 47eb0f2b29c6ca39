import { z } from "zod";
import { budgetPeriods } from "../budget-windows.ts";
import { route } from "./route.ts";
import { limitedObjects } from "./states.ts";
import { at, count, id, maybeAt, nothing } from "./words.ts";

const code = z.string().min(1).max(64).describe("The code that the device shows. Case and hyphens do not matter.");

export const agentSchema = z.object({
  id,
  workspace: z.object({ id, slug: z.string() }),
  group: z.string(),
  key: id.describe(
    "The key of the user's agents in this workspace. Its limits and budget apply, and ledger entries name it.",
  ),
  client: z.string().describe("Name of the program, as sent at the start of the sign-in."),
  ip: z.string().describe("Address that started the sign-in."),
  created_at: at,
  refreshed_at: at.describe("When it last received an access token, which is valid for an hour."),
  expires_at: at.describe("When it expires unless it is refreshed."),
});
export type AgentSignInRow = z.infer<typeof agentSchema>;

const waitingSchema = z.object({
  code: z.string().describe("The code to compare with the one on the device."),
  client: z.string(),
  ip: z.string(),
  created_at: at,
  expires_at: at,
  workspaces: z
    .array(z.object({ id, slug: z.string(), name: z.string() }))
    .describe("Workspaces in which the caller may approve it."),
});
export type WaitingAgent = z.infer<typeof waitingSchema>;

const usageRowSchema = z.object({
  key: id,
  workspace: z.object({ id, slug: z.string() }),
  group: z.string(),
  requests: count,
  cost_usd: z.number(),
  limits: z
    .array(
      z.object({
        scope: z
          .enum(limitedObjects)
          .describe("`person`: all calls of the user in the workspace; `key`: calls of their agents only."),
        kind: z.enum(["rpm", "tpm", "concurrency", "budget"]),
        period: z.enum(budgetPeriods).nullable(),
        limit: z.number(),
        used: z.number().nullable(),
        resets_at: maybeAt,
      }),
    )
    .describe("Limits that apply to them. Budgets are in USD."),
});
export type AgentUsageRow = z.infer<typeof usageRowSchema>;

/** Sign-ins of coding agents. */
export const agentRoutes = {
  "agents.findDevice": route({
    method: "POST",
    path: "/api/agents/find-device",
    summary: "Get the device that waits for approval with a code",
    needs: "signed-in",
    body: z.strictObject({ code }),
    answer: waitingSchema,
  }),
  "agents.approve": route({
    method: "POST",
    path: "/api/agents/approve",
    summary: "Approve a device, which can then call as the signed-in user in one workspace",
    needs: "signed-in",
    fresh: true,
    body: z.strictObject({ code, workspace: id }),
    answer: nothing,
  }),
  "agents.deny": route({
    method: "POST",
    path: "/api/agents/deny",
    summary: "Deny a device",
    needs: "signed-in",
    body: z.strictObject({ code }),
    answer: nothing,
  }),
  "agents.list": route({
    method: "GET",
    path: "/api/agents",
    summary: "List the caller's agent sign-ins",
    needs: "signed-in",
    answer: z.object({ data: z.array(agentSchema) }),
  }),
  "agents.usage": route({
    method: "GET",
    path: "/api/agents/usage",
    summary: "Get the usage of the caller's agents in this month by workspace, and their limits",
    needs: "signed-in",
    answer: z.object({ from: at, data: z.array(usageRowSchema) }),
  }),
  "agents.end": route({
    method: "DELETE",
    path: "/api/agents/{agent}",
    summary: "End an agent sign-in. Administrators may end any",
    needs: "signed-in",
    answer: nothing,
  }),
} as const;
