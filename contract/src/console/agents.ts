import { z } from "zod";
import { route } from "./route.ts";
import { limitScopes } from "./states.ts";
import { at, count, id, maybeAt, nothing } from "./words.ts";

const code = z.string().min(1).max(64).describe("As the device shows it; case and hyphens do not matter.");

const agentSchema = z.object({
  id,
  workspace: z.object({ id, slug: z.string() }),
  group: z.string(),
  key: id.describe(
    "The key that the person's agents call with in this workspace: limits, budget and entries of the ledger are its.",
  ),
  client: z.string().describe("How the program called itself when it began."),
  ip: z.string().describe("Where it began."),
  created_at: at,
  refreshed_at: at.describe("When it last got an access token; each holds an hour."),
  expires_at: at.describe("Unless it is used again."),
});
export type AgentSignInRow = z.infer<typeof agentSchema>;

const waitingSchema = z.object({
  code: z.string().describe("As the device shows it, to compare."),
  client: z.string(),
  ip: z.string(),
  created_at: at,
  expires_at: at,
  workspaces: z.array(z.object({ id, slug: z.string(), name: z.string() })).describe("Where they may sign it in."),
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
          .enum(limitScopes)
          .describe("`person`: of all that counts for them in the workspace; `key`: of their agents alone."),
        kind: z.enum(["rpm", "tpm", "concurrency", "budget"]),
        period: z.enum(["day", "week", "month", "total"]).nullable(),
        limit: z.number(),
        used: z.number().nullable(),
        resets_at: maybeAt,
      }),
    )
    .describe("Every limit over them. Of a budget in USD."),
});
export type AgentUsageRow = z.infer<typeof usageRowSchema>;

/** Sign-ins of coding agents, by whoever they call for. */
export const agentRoutes = {
  "agents.look": route({
    method: "POST",
    path: "/api/agents/look",
    summary: "Which device waits with a code, before one lets it in",
    needs: "signed-in",
    body: z.strictObject({ code }),
    answer: waitingSchema,
  }),
  "agents.approve": route({
    method: "POST",
    path: "/api/agents/approve",
    summary: "Let a device that waits call as oneself, in one workspace",
    needs: "signed-in",
    fresh: true,
    body: z.strictObject({ code, workspace: id }),
    answer: nothing,
  }),
  "agents.deny": route({
    method: "POST",
    path: "/api/agents/deny",
    summary: "Turn a device away that waits",
    needs: "signed-in",
    body: z.strictObject({ code }),
    answer: nothing,
  }),
  "agents.list": route({
    method: "GET",
    path: "/api/agents",
    summary: "The sign-ins of one's own agents",
    needs: "signed-in",
    answer: z.object({ data: z.array(agentSchema) }),
  }),
  "agents.usage": route({
    method: "GET",
    path: "/api/agents/usage",
    summary: "What one's own agents have used since the month began, by workspace, and every limit over them",
    needs: "signed-in",
    answer: z.object({ from: at, data: z.array(usageRowSchema) }),
  }),
  "agents.end": route({
    method: "DELETE",
    path: "/api/agents/{agent}",
    summary: "End a sign-in: one's own, or anybody's for an administrator",
    needs: "signed-in",
    answer: nothing,
  }),
} as const;
