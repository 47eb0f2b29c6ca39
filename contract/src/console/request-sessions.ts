import { z } from "zod";
import { requestRowSchema } from "./requests.ts";
import { route } from "./route.ts";
import { sessionAgentsMax, sessionSorts, sessionSources, toolNamesMax } from "./states.ts";
import { at, cost, count, id, pageOf, pageQuery, personSchema } from "./words.ts";

/** A session id as clients choose it. */
const sessionId = z.string().min(1).max(128);

const sums = {
  requests: count,
  turns: count.describe("Requests that generate something: all except counts of tokens."),
  errors: count.describe("Attempts that failed, broke off or were refused."),
  input_tokens: count,
  cache_read_tokens: count.describe("Input tokens read from the upstream's cache."),
  cache_read_share: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe("Share of `cache_read_tokens` in `input_tokens`. null: no input."),
  output_tokens: count,
  cost_usd: cost,
};

const requestSessionSchema = z.object({
  session: sessionId.describe("Session id, unique within its key."),
  source: z
    .enum(sessionSources)
    .describe(
      "How it was recognized. `header`: named by the caller. `agent`: sent by a coding agent. `chain`: a stored response or conversation. `prefix`: inferred from the beginning of the prompt.",
    ),
  workspace: z.object({ id, slug: z.string() }),
  key: z.object({ id, name: z.string() }),
  group: z.object({ id, name: z.string() }),
  person: personSchema.nullable().describe("User who made the requests. null: a shared key, or several users."),
  agent: z.string().describe("Coding agent, or the first product of the user agent. Empty: unknown."),
  models: z.array(z.string()).describe("At most 16."),
  first_at: at.describe("Start of the first request."),
  last_at: at.describe("Start of the last request."),
  cache_write_tokens: count,
  ...sums,
});
export type RequestSession = z.infer<typeof requestSessionSchema>;

const toolUseSchema = z.object({
  name: z.string().describe("At most 64 characters."),
  calls: count.describe("Calls in answers of the model."),
  results: count.describe("Results that the caller sent."),
  errors: count.describe("Results marked as errors; chat completions have no such mark."),
});
export type ToolUse = z.infer<typeof toolUseSchema>;
const tools = z.array(toolUseSchema).max(toolNamesMax);

/** An attempt in its session. */
const sessionRequestSchema = requestRowSchema.extend({
  cache_read_tokens: count,
  tool_calls: z
    .record(z.string(), count)
    .describe("Searches and code containers that the upstream provided, by usage class."),
  tools: tools
    .meta({ needs: "admin" })
    .describe("Tools of the caller, read from captured bodies. The same for all attempts of a request."),
});
export type SessionRequest = z.infer<typeof sessionRequestSchema>;

const span = {
  from: z.coerce.number().int().nonnegative().optional().describe("Sessions with a request since this time."),
  to: z.coerce.number().int().nonnegative().optional().describe("Sessions that began before this time."),
};

const turn = z.object({ request_id: id, at });

export const requestSessionRoutes = {
  "sessions.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/sessions",
    summary:
      "List sessions: the requests of one conversation of a coding agent or another client. Members and viewers see only their own sessions and sessions of shared keys",
    needs: "viewer",
    query: pageQuery.extend({
      ...span,
      key: id.optional(),
      person: id.optional().describe("User id. Only admins may name another user."),
      agent: z.string().max(64).optional(),
      model: z.string().max(256).optional(),
      search: sessionId.optional().describe("Beginning of a session id."),
      sort: z.enum(sessionSorts).optional().describe("Default `-last_at`. A cursor keeps its own order."),
    }),
    answer: pageOf(requestSessionSchema).extend({
      totals: z
        .object({ sessions: count, ...sums })
        .describe("Sums over every matching session, the same on each page."),
      truncated: z.boolean().describe("More sessions match than are read: only the latest 200,000 are included."),
    }),
  }),
  "sessions.agents": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/session-agents",
    summary: "List the agents of sessions, most sessions first",
    needs: "viewer",
    query: z.object(span),
    answer: z.object({
      data: z.array(z.object({ agent: z.string(), sessions: count })).max(sessionAgentsMax),
    }),
  }),
  "sessions.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/sessions/{key}",
    summary: "Get a session of a key",
    needs: "viewer",
    query: z.object({ session: sessionId }),
    answer: requestSessionSchema,
  }),
  "sessions.requests": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/sessions/{key}/requests",
    summary: "List the requests of a session, oldest first",
    needs: "viewer",
    query: pageQuery.extend({ session: sessionId }),
    answer: pageOf(sessionRequestSchema.describe("An attempt. Retries of a request have the same `request_id`.")),
  }),
  "sessions.tools": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/sessions/{key}/tools",
    summary: "List the tools of the caller in the captured requests of a session, most calls first",
    needs: "admin",
    query: z.object({ session: sessionId }),
    answer: z.object({
      data: tools,
      captured_requests: count.describe("Requests with captured bodies that were read: at most the latest 10,000."),
    }),
  }),
  "requests.session": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/requests/{request}/session",
    summary: "Get the session of a request, with the requests before and after it",
    needs: "viewer",
    answer: z.object({
      session: requestSessionSchema.nullable().describe("null: the request belongs to no session."),
      position: count.nullable().describe("Position among the session's stored requests, from 1."),
      previous: turn.nullable(),
      next: turn.nullable(),
    }),
  }),
} as const;
