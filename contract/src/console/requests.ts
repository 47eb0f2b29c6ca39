import { z } from "zod";
import { guardrailVerdicts } from "../guardrail-table.ts";
import { guardrailCheckRowSchema } from "./guardrail-findings.ts";
import { ledgerFields } from "./ledger-fields.ts";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { limitKinds, limitScopes, outcomes, requestSorts } from "./states.ts";
import { at, cost, count, id, pageOf, pageQuery, personSchema, signedUsd, usd } from "./words.ts";

/** One attempt in a list. Attempts of one request have the same `request_id` and follow each other. */
export const requestRowSchema = z.object({
  ...ledgerFields("list"),
  workspace: z.object({ id, slug: z.string() }),
  key: z.object({ id, name: z.string() }),
  group: z.object({ id, name: z.string() }),
  person: personSchema
    .nullable()
    .describe("Owner of the key or the agent; the request counts as their usage. null: a shared key."),
  actor: personSchema
    .nullable()
    .describe("Signed-in user who made the request in the console. null: it was made with a secret or by an agent."),
  input_tokens: count,
  output_tokens: count,
  cost_usd: cost,
  held_usd: usd
    .nullable()
    .describe(
      "USD held for a pending background response; 0 if no budget applies. null for ended attempts and all other requests.",
    ),
  guardrail_verdict: z
    .enum(guardrailVerdicts)
    .nullable()
    .optional()
    .describe("The strongest result of an enforced guardrail. null: no finding. Only in `requests.list`."),
  would_refuse: z
    .boolean()
    .optional()
    .describe("A limit, a budget or a guardrail in shadow mode would have refused it. Only in `requests.list`."),
});
export type RequestRow = z.infer<typeof requestRowSchema>;

export const attemptSchema = requestRowSchema.extend({
  ...ledgerFields("detail"),
  cost_lines: z
    .array(z.object({ class: z.string(), units: z.number(), unit_usd: z.number(), usd }))
    .describe("Calculation of the cost at the price version of the attempt."),
  vendor_cost_usd: usd.nullable().describe("Cost that the vendor reported. null: not reported."),
  own_cost_usd: usd
    .nullable()
    .describe("Price times usage if `cost_source` is `vendor`. null: same as `cost_usd`, or no price."),
  cache_saved_usd: signedUsd.nullable().describe("USD that the upstream's cache saved. null: nothing."),
  reserved_usd: usd,
});
export type AttemptDetail = z.infer<typeof attemptSchema>;

/** How a request was routed. Stored if there was something to choose, refuse or retry. */
export const explanationSchema = z.object({
  plan: z
    .array(
      z.object({
        deployment: z.string(),
        provider: z.string(),
        model: z.string(),
        upstream_model: z.string(),
        priority: z.int().nullable(),
        weight: z.int().nullable(),
        note: z
          .string()
          .nullable()
          .describe("Why it was skipped or preferred: `cooling`, `breaker open`, `affinity` …"),
        reasons: z.array(remarkSchema("place")).describe("`note` by code."),
      }),
    )
    .describe("In the planned order."),
  refusal: z
    .object({
      code: z.string(),
      message: z.string(),
      scope: z.string().nullable(),
      limit: z.number().nullable(),
      used: z.number().nullable(),
      resets_at: at.nullable(),
      reached: z
        .object({ scope: z.enum(limitScopes), scope_id: id, kind: z.enum(limitKinds) })
        .nullable()
        .describe("The limit that was reached, as in `limits.list`. null: the request was refused for another reason."),
    })
    .nullable(),
  failures: z.array(
    z.object({ attempt_id: id, code: z.string(), message: z.string(), retry: z.enum(["never", "same", "other"]) }),
  ),
  walk: z.array(z.string()).describe("The attempts with their reasons, one line each."),
  steps: z.array(remarkSchema("step")).describe("The lines of `walk` by code, in the same order."),
});
export type Explanation = z.infer<typeof explanationSchema>;

/** Captured headers and bodies of a request. Secrets are redacted before storage. */
export const captureSchema = z.object({
  request_headers: z.array(z.tuple([z.string(), z.string()])),
  response_headers: z.array(z.tuple([z.string(), z.string()])),
  request_body: z.string().nullable(),
  request_bytes: count.nullable(),
  response_body: z.string().nullable(),
  response_bytes: count.nullable(),
  truncated: z.boolean(),
  expires_at: at,
});
export type CaptureDetail = z.infer<typeof captureSchema>;

export const requestDetailSchema = z.object({
  request_id: id,
  at,
  workspace: z.object({ id, slug: z.string() }),
  key: z.object({ id, name: z.string() }),
  attempts: z.array(attemptSchema).describe("In the order in which they were made."),
  counted_in: z
    .object({
      request_id: id,
      calls: count
        .nullable()
        .describe("Requests that the entry counts. null: it has not been written yet, or was deleted."),
    })
    .nullable()
    .describe(
      "The request with the ledger entry that counts this refused request, together with identical ones. null: it has separate entries.",
    ),
  checks: z
    .array(guardrailCheckRowSchema)
    .describe(
      "Checks of guardrails that found something or failed, in the order in which they were made; at most 100.",
    ),
  explanation: explanationSchema.nullable().describe("null: there was only one way to serve it, and it worked."),
  capture: captureSchema.nullable().meta({ needs: "admin" }),
});
export type RequestDetail = z.infer<typeof requestDetailSchema>;

/** The filters of the list of requests. */
export const requestFilterSchema = z.object({
  search: z.string().max(256).optional().describe("A request id, attempt id or upstream id, or its beginning."),
  model: z.string().max(256).optional(),
  provider: z.string().max(256).optional(),
  key: id.optional(),
  group: id.optional(),
  person: id.optional().describe("User id. Only admins may name another user."),
  endpoint: z.string().max(64).optional(),
  outcome: z.enum([...outcomes, "unsuccessful"]).optional(),
  status: z.coerce.number().int().optional(),
  error_code: z.string().max(64).optional(),
  min_ms: z.coerce
    .number()
    .nonnegative()
    .optional()
    .describe("From the arrival of the request to the end of the attempt."),
  min_cost: z.coerce.number().nonnegative().max(1e9).optional().describe("USD of an attempt."),
  max_cost: z.coerce.number().nonnegative().max(1e9).optional().describe("USD of an attempt."),
  tag: z.string().min(1).max(512).optional().describe("`name=value`, or `name` for any value."),
  user_agent: z.string().min(1).max(256).optional().describe("Part of the user agent, case-insensitive."),
  guardrail: id
    .optional()
    .describe("Requests in which this guardrail found something or failed, also in shadow mode. `any`: any guardrail."),
  guardrail_verdict: z
    .enum(guardrailVerdicts)
    .optional()
    .describe("Requests with such a verdict of a guardrail, of `guardrail` if it is set. Also in shadow mode."),
  would_refuse: z
    .literal("true")
    .optional()
    .describe("Requests that a limit, a budget or a guardrail in shadow mode would have refused."),
  text: z
    .string()
    .min(2)
    .max(256)
    .optional()
    .describe("Part of a captured body, case-insensitive. Only for admins; each search adds an audit entry."),
  from: z.coerce.number().int().optional(),
  to: z.coerce.number().int().optional(),
});

/** The columns of the CSV file, one line for each attempt. */
export const requestCsvColumns = [
  ...["time", "request_id", "attempt_id", "workspace", "group", "key", "person", "requested_model", "model"],
  ...["provider", "endpoint", "operation", "stream", "outcome", "http_status", "error_code", "calls", "retry_index"],
  ...[
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "started_after_ms",
    "total_ms",
    "first_token_ms",
    "user_agent",
    "batch_id",
    "custom_id",
    "tags",
    "guardrail_verdict",
    "would_refuse",
  ],
] as const;

export const requestTotalsSchema = z.object({
  attempts: count,
  requests: count,
  unsuccessful: count.describe("Requests and retries that did not succeed."),
  input_tokens: count,
  output_tokens: count,
  cost_usd: cost,
  searched_from: at
    .nullable()
    .describe("The search ended at its time limit, and covers only requests since then. null: it covers all."),
});
export type RequestTotals = z.infer<typeof requestTotalsSchema>;

export const requestRoutes = {
  "requests.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/requests",
    summary:
      "List requests, newest first. Members and viewers see only their own requests and requests with shared keys",
    needs: "viewer",
    query: pageQuery.extend(requestFilterSchema.shape).extend({
      sort: z
        .enum(requestSorts)
        .optional()
        .describe(
          "Default `-at`. Other orders sort attempts, leave out running background responses, and list at most 1,000.",
        ),
    }),
    answer: pageOf(requestRowSchema).extend({
      searched_from: at
        .nullable()
        .describe(
          "The search ended at its time limit, and this page covers only requests since then. null: it covers all.",
        ),
    }),
  }),
  "requests.totals": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/request-totals",
    summary: "Sum the requests that a filter matches, newest first until a time limit",
    needs: "viewer",
    query: requestFilterSchema.omit({ text: true }),
    answer: requestTotalsSchema,
  }),
  "requests.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/requests/{request}",
    summary: "Get a request with its explanation",
    needs: "viewer",
    answer: requestDetailSchema,
  }),
} as const;
