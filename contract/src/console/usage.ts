import { z } from "zod";
import { route } from "./route.ts";
import { limitScopes, peopleSorts, usageDimensions } from "./states.ts";
import { at, count, id, ms, pageOf, pageQuery, personSchema, usd } from "./words.ts";

const within = "Of what succeeded; at most 2 % beside the true percentile.";

const share = z.number().min(0).max(1);

const comparedCosts = {
  vendor_cost_usd: usd
    .nullable()
    .describe(
      "What vendors reported for their calls, whether or not it is what was charged. null: none reported a cost.",
    ),
  own_cost_usd: usd.nullable().describe("What those same calls cost by the configured prices."),
};

export const usageFiguresSchema = z.object({
  requests: count,
  attempts: count,
  succeeded: count,
  failed: count.describe("Attempts that failed or were refused; not those that their callers cancelled."),
  cancelled: count.describe("Requests that their callers cancelled."),
  failed_requests: count.describe(
    "Requests whose callers got no whole answer: every attempt failed, or the request was refused. Of one model or provider, those that it did not answer itself.",
  ),
  input_tokens: count,
  cached_tokens: count.describe("Part of the input that came from the upstream's cache."),
  cache_read_share: share.nullable().describe("`cached_tokens` of `input_tokens`; null: no input."),
  output_tokens: count,
  images: count,
  video_seconds: z.number().nonnegative(),
  tool_calls: count.describe("Searches and places to run code that upstreams provided for calls."),
  cost_usd: usd,
  ...comparedCosts,
  request_latency_p50_ms: ms
    .nullable()
    .describe(`What callers saw, from the arrival of a call with every retry and fallback. ${within}`),
  request_latency_p95_ms: ms.nullable(),
  request_first_token_p50_ms: ms.nullable(),
  request_first_token_p95_ms: ms.nullable(),
  latency_p50_ms: ms.nullable().describe(`Of single attempts, as an upstream does. ${within}`),
  latency_p95_ms: ms.nullable(),
  first_token_p50_ms: ms.nullable(),
  first_token_p95_ms: ms.nullable(),
});
export type UsageFigures = z.infer<typeof usageFiguresSchema>;

export const usageSeriesSchema = z.object({
  from: at,
  to: at,
  step_ms: ms.describe("1, 2 or 5 minutes, an hour or a day."),
  totals: usageFiguresSchema,
  previous: usageFiguresSchema.describe("The same length of time just before."),
  at: z.array(at).describe("Where each step begins; every `points` has as many."),
  series: z
    .array(
      z.object({
        id: z.string().describe("Empty for the rest that is not shown apart."),
        label: z.string(),
        totals: usageFiguresSchema,
        points: z.array(usageFiguresSchema.nullable()).describe("null: nothing in this step."),
      }),
    )
    .describe("Most expensive first, at most nine and a rest."),
});
export type UsageSeries = z.infer<typeof usageSeriesSchema>;

export const limitUsageRowSchema = z.object({
  scope: z.enum(limitScopes),
  scope_id: id.describe("Of a person the user's id."),
  label: z.string(),
  workspace: z.object({ id, slug: z.string() }),
  kind: z.enum(["rpm", "tpm", "concurrency", "budget"]),
  period: z.enum(["day", "week", "month", "total"]).nullable(),
  limit: z.number(),
  used: z.number().nullable().describe("Null for a budget whose spending cannot be read now."),
  exhausted: z
    .boolean()
    .describe("Calls are refused: it is used up, or what is left of a budget is too little for the calls that come."),
  refused_at: at
    .nullable()
    .describe("When a budget last refused a call that it would refuse now too, of the past hour and of this process."),
  resets_at: at.nullable(),
  forecast: z
    .object({
      at_period_end: z.number().describe("USD, if it goes on as in the last seven days."),
      exhausted_at: at.nullable().describe("When the budget would be used up; null: not in this period."),
    })
    .nullable(),
});
export type LimitUsageRow = z.infer<typeof limitUsageRowSchema>;

const usageSums = {
  requests: count,
  failed_requests: count.describe("Requests whose callers got no whole answer."),
  input_tokens: count,
  output_tokens: count,
  cost_usd: usd,
};

export const usageRoutes = {
  "usage.series": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage",
    summary: "Spend, requests, errors and latency over time",
    needs: "viewer",
    query: z.object({
      from: z.coerce.number().int().nonnegative(),
      to: z.coerce.number().int().nonnegative(),
      step: z
        .enum(["minute", "hour", "day"])
        .optional()
        .describe(
          "Minutes of at most six hours: 1, 2 or 5 at once, and hours where there are too many calls or they are gone.",
        ),
      by: z
        .enum(usageDimensions)
        .optional()
        .describe(
          "By `person`, and by `key` of personal keys, members and viewers get their own line apart; other people's are among the rest.",
        ),
      model: z.string().max(256).optional(),
      provider: z.string().max(256).optional(),
      key: id.optional(),
      group: id.optional(),
      person: id
        .optional()
        .describe(
          "User id: only their calls, by sign-ins and with personal keys. Admins ask for anybody, others for themselves.",
        ),
    }),
    answer: usageSeriesSchema,
  }),
  "usage.people": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage/people",
    summary: "Everybody who called in a time, with what they used: any order, by page",
    needs: "admin",
    query: pageQuery.extend({
      from: z.coerce.number().int().nonnegative(),
      to: z.coerce.number().int().nonnegative().describe("Both are widened to whole hours."),
      search: z.string().max(256).optional().describe("Part of an address or a name."),
      sort: z
        .enum(peopleSorts)
        .optional()
        .describe("Default `-cost_usd`. A cursor goes on in the order that it is from."),
    }),
    answer: pageOf(
      z.object({
        person: personSchema.nullable().describe("null: what keys of no one person called."),
        ...usageSums,
      }),
    ).extend({
      from: at,
      to: at,
      people: count.describe("How many people there are, on all pages."),
      totals: z.object(usageSums).describe("Of everybody, whatever is searched for."),
    }),
  }),
  "usage.costs": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage/costs",
    summary: "What was charged, and what vendors reported beside our prices, by provider and model",
    needs: "viewer",
    query: z.object({
      from: z.coerce.number().int().nonnegative(),
      to: z.coerce.number().int().nonnegative().describe("Both are widened to whole hours."),
    }),
    answer: z.object({
      data: z
        .array(
          z.object({
            provider: z.string(),
            model: z.string(),
            attempts: count,
            cost_usd: usd.describe("What was charged."),
            ...comparedCosts,
          }),
        )
        .describe("Most expensive first, at most 5,000."),
    }),
  }),
  "usage.sessions": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage/sessions",
    summary: "What the sessions of coding agents and other clients used, and how much of it came from caches",
    needs: "admin",
    query: z.object({
      from: z.coerce.number().int().nonnegative(),
      to: z.coerce.number().int().nonnegative(),
      key: id.optional(),
    }),
    answer: z.object({
      data: z
        .array(
          z.object({
            session: z.string().describe("As the client sent it; the tag `session` of its entries."),
            last_at: at.describe("When its last call began."),
            requests: count,
            input_tokens: count,
            cached_tokens: count,
            cache_read_share: share.nullable().describe("`cached_tokens` of `input_tokens`; null: no input."),
            output_tokens: count,
            cost_usd: usd,
          }),
        )
        .describe("The latest first, at most 100."),
      truncated: z.boolean().describe("There are more, or more entries than were read (50,000)."),
    }),
  }),
  "limits.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/limits",
    summary:
      "Every limit and budget, how far it is used, and where it is going. Those of other people and of their keys are for admins",
    needs: "viewer",
    query: z.object({
      search: z.string().max(256).optional(),
      key: id.optional(),
      person: id
        .optional()
        .describe(
          "User id: only what is over their calls, of them, of their keys, and of the groups and workspaces of those. Admins ask for anybody, others for themselves.",
        ),
    }),
    answer: z.object({ data: z.array(limitUsageRowSchema), truncated: z.boolean() }),
  }),
} as const;
