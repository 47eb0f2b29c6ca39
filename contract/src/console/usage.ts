import { z } from "zod";
import { budgetPeriods } from "../budget-windows.ts";
import { budgetSchema, limitsSchema } from "../config-limits.ts";
import { route } from "./route.ts";
import {
  limitedObjects,
  limitKinds,
  limitSorts,
  limitStates,
  usageDimensions,
  usageMeasures,
  usageSorts,
} from "./states.ts";
import { at, cost, count, id, ms, pageOf, pageQuery, signedUsd, usd } from "./words.ts";

const within = "Successful calls only; within 2 % of the true percentile.";

const share = z.number().min(0).max(1);

const comparedCosts = {
  vendor_cost_usd: usd
    .nullable()
    .describe("Cost that vendors reported, whether or not it was charged. null: not reported."),
  own_cost_usd: usd.nullable().describe("Cost of the same calls at the configured prices."),
};

export const usageFiguresSchema = z.object({
  requests: count,
  attempts: count,
  succeeded: count,
  failed: count.describe("Attempts that failed or were refused, except attempts that callers canceled."),
  cancelled: count.describe("Requests canceled by their callers."),
  failed_requests: count.describe(
    "Requests without a complete response: every attempt failed, or the request was refused. For one model or provider: requests that it did not complete itself.",
  ),
  input_tokens: count,
  cached_tokens: count.describe("Input tokens read from the upstream's cache."),
  cache_read_share: share.nullable().describe("Share of `cached_tokens` in `input_tokens`. null: no input."),
  cache_write_tokens: count.describe("Input tokens written to the upstream's cache."),
  output_tokens: count,
  reasoning_tokens: count.describe("Output tokens spent on reasoning."),
  reasoning_share: share.nullable().describe("Share of `reasoning_tokens` in `output_tokens`. null: no output."),
  images: count,
  video_seconds: z.number().nonnegative(),
  tool_calls: count.describe("Searches and code containers that upstreams provided."),
  cost_usd: cost,
  cache_saved_usd: signedUsd.describe(
    "USD that upstreams' caches saved: the cost without them minus the cost. Negative if cache writes cost more than reads saved.",
  ),
  ...comparedCosts,
  request_latency_p50_ms: ms.nullable().describe(`Latency for callers, including retries and fallbacks. ${within}`),
  request_latency_p95_ms: ms.nullable(),
  request_first_token_p50_ms: ms.nullable(),
  request_first_token_p95_ms: ms.nullable(),
  latency_p50_ms: ms.nullable().describe(`Latency of single attempts. ${within}`),
  latency_p95_ms: ms.nullable(),
  first_token_p50_ms: ms.nullable(),
  first_token_p95_ms: ms.nullable(),
});
export type UsageFigures = z.infer<typeof usageFiguresSchema>;

const usageSpan = z.object({ from: at, to: at });

export const usageSeriesSchema = z.object({
  from: at,
  to: at,
  step_ms: ms.describe("1, 2 or 5 minutes, an hour or a day."),
  totals: usageFiguresSchema,
  previous: usageFiguresSchema.describe("The compared period."),
  previous_period: usageSpan,
  previous_points: z
    .partialRecord(z.enum(usageMeasures), z.array(z.number().nullable()))
    .describe("Points of the compared period, one for each of its steps."),
  at: z.array(at).describe("Start of each step. Every list in `points` has the same length."),
  series: z
    .array(
      z.object({
        id: z.string().describe("Empty for the rest, which is not shown separately. `-` for calls without a value."),
        label: z.string(),
        totals: usageFiguresSchema,
        points: z
          .partialRecord(z.enum(usageMeasures), z.array(z.number().nullable()))
          .describe("The requested measures. null: no calls in this step."),
      }),
    )
    .describe("Most expensive first: at most nine, and the rest."),
});
export type UsageSeries = z.infer<typeof usageSeriesSchema>;

export const usageRowSchema = z.object({
  id: z.string().describe("`-` for calls without a value: without a person, a provider, or the tag."),
  label: z.string(),
  figures: usageFiguresSchema,
  previous: usageFiguresSchema.nullable().describe("The compared period. null: `compare` was not set."),
});
export type UsageRow = z.infer<typeof usageRowSchema>;

const time = z.coerce.number().int().nonnegative();

const timeZone = z
  .string()
  .max(64)
  .optional()
  .describe(
    "IANA name of the time zone of days and months, such as `Europe/Berlin`. Default: UTC. An hour counts for the day in which it begins.",
  );

const scopeQuery = {
  from: time,
  to: time,
  model: z.string().max(256).optional(),
  provider: z.string().max(256).optional().describe("`-`: refused before a provider was chosen."),
  key: id.optional(),
  group: id.optional(),
  person: id
    .optional()
    .describe("User id. Calls by the user's sign-ins and personal keys. Only admins may name another user."),
  user_agent: z.string().max(64).optional().describe("Family of clients, such as `claude-code` or `openai-python`."),
  endpoint: z.string().max(64).optional(),
  tag: z
    .string()
    .max(128)
    .regex(/^[^"\\]*$/)
    .optional()
    .describe("Name of a tag, for `by=tag` and `tag_value`."),
  tag_value: z.string().max(128).optional().describe("`-`: calls without the tag."),
  compare_from: time.optional().describe("The period to compare with. Default: the same length before."),
  compare_to: time.optional(),
};

const rowsQuery = {
  ...scopeQuery,
  by: z
    .enum(usageDimensions)
    .exclude(["none"])
    .describe("By `person`, and by `key` for personal keys, members and viewers see only their own row."),
  search: z.string().max(256).optional().describe("Part of the label."),
  sort: z.enum(usageSorts).optional().describe("Default `-cost_usd`. A cursor keeps its own order."),
  compare: z.enum(["true", "false"]).optional().describe("Adds the compared period to each row."),
};

/** Columns that the CSV of usage rows can have, in addition to the id and the label. */
const focusDay = z.iso.date();

/** Days (UTC) of a FOCUS export. */
export const focusQuery = z.object({
  from: focusDay.describe("First day."),
  to: focusDay.optional().describe("The day after the last one. Default: all closed days."),
  workspace: id.optional().describe("Id or slug. Left out: the whole installation."),
});

export const usageCsvColumns = [
  ...(["cost_usd", "share", "previous_cost_usd", "requests", "previous_requests", "failed_requests"] as const),
  ...(["error_rate", "attempts", "succeeded", "failed", "cancelled", "tokens", "input_tokens"] as const),
  ...(["cached_tokens", "cache_read_share", "cache_write_tokens", "output_tokens"] as const),
  ...(["reasoning_tokens", "reasoning_share", "cache_saved_usd"] as const),
  ...(["images", "video_seconds", "tool_calls", "vendor_cost_usd", "own_cost_usd"] as const),
  ...(["request_latency_p50_ms", "request_latency_p95_ms"] as const),
  ...(["request_first_token_p50_ms", "request_first_token_p95_ms"] as const),
] as const;

export const usageCsvQuery = z.object({
  ...rowsQuery,
  columns: z
    .string()
    .max(1_024)
    .optional()
    .describe("Names of columns, separated by commas, in their order. Default: all."),
});

export const chargebackQuery = z.object({
  by: z.enum(["group", "workspace", "tag"]),
  tag: scopeQuery.tag,
  tag_value: scopeQuery.tag_value,
  from: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/)
    .describe("First month, such as `2026-01`."),
  to: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/)
    .describe("Last month. At most twelve."),
  time_zone: timeZone,
});

export const limitUsageRowSchema = z.object({
  scope: z.enum(limitedObjects),
  scope_id: id.describe("For a `person`: the user id."),
  label: z.string(),
  workspace: z.object({ id, slug: z.string() }),
  group: z.object({ id, name: z.string() }).nullable().describe("Group of a `key`. null for other scopes."),
  kind: z.enum(limitKinds),
  period: z.enum(budgetPeriods).nullable(),
  time_zone: z.string().nullable().describe("Time zone of a budget's period. null: UTC, or no calendar period."),
  rolling: z.boolean().describe("A budget for the last 60 minutes, 24 hours, 7 days or 30 days at any moment."),
  limit: z.number(),
  used: z.number().nullable().describe("null: spending of the budget cannot be read now."),
  held: z
    .number()
    .nullable()
    .describe("Part of `used` that is reserved for calls in flight. null for other limits than budgets."),
  enforce: z.boolean().describe("false: shadow mode, which records refusals and refuses nothing."),
  exhausted: z
    .boolean()
    .describe(
      "Calls are refused: the limit is reached, or the rest of the budget is too small for them. false in shadow mode.",
    ),
  refused_at: at
    .nullable()
    .describe(
      "When the budget last refused a call (in shadow mode: would have) that it would still refuse now, within the past hour and in this process.",
    ),
  resets_at: at.nullable(),
  by_tag: z
    .array(z.object({ value: z.string().describe("`-`: calls without the tag."), usd: cost }))
    .nullable()
    .describe(
      "Spend of the budget's current period by the values of `tag`, most expensive first, at most 10. null: not a budget, or `tag` was not set.",
    ),
  forecast: z
    .object({
      at_period_end: z.number().describe("USD, extrapolated from the last seven days."),
      exhausted_at: at.nullable().describe("When the budget will be exhausted. null: not in this period."),
    })
    .nullable(),
});
export type LimitUsageRow = z.infer<typeof limitUsageRowSchema>;

export const usageRoutes = {
  "usage.series": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage",
    summary: "Get spend, requests, errors and latency over time",
    needs: "viewer",
    query: z.object({
      ...scopeQuery,
      step: z
        .enum(["minute", "hour", "day"])
        .optional()
        .describe(
          "`minute` is for at most six hours, in steps of 1, 2 or 5 minutes. Hours are used if there are too many calls or they were deleted.",
        ),
      time_zone: timeZone,
      by: z
        .enum(usageDimensions)
        .optional()
        .describe(
          "By `person`, and by `key` for personal keys, members and viewers see only their own line; other users are part of the rest.",
        ),
      measures: z
        .string()
        .max(512)
        .optional()
        .describe("Measures of the points, separated by commas. Default `cost_usd`."),
    }),
    answer: usageSeriesSchema,
  }),
  "usage.rows": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage/rows",
    summary: "List all values of a dimension with their usage",
    needs: "viewer",
    query: pageQuery.extend(rowsQuery),
    answer: pageOf(usageRowSchema).extend({
      from: at,
      to: at,
      previous_period: usageSpan,
      total: count.describe("Number of rows on all pages."),
      totals: usageFiguresSchema.describe("Totals of everything, regardless of `search` and of rows of other users."),
      previous: usageFiguresSchema.nullable(),
    }),
  }),
  "usage.tags": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage/tags",
    summary: "List the names of tags that calls had in a period",
    needs: "viewer",
    query: z.object({ from: time, to: time }),
    answer: z.object({ data: z.array(z.string()).describe("By name, at most 200.") }),
  }),
  "usage.chargeback": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage/chargeback",
    summary: "Get the cost of each group, workspace or tag value by month",
    needs: "viewer",
    query: chargebackQuery,
    answer: z.object({
      months: z.array(z.object({ month: z.string(), from: at, to: at })),
      data: z
        .array(
          z.object({
            id: z.string().describe("`-`: without the tag. Empty: rows beyond the first 5,000, as one."),
            label: z.string(),
            cost_usd: z.array(cost).describe("One for each month."),
            total_usd: cost,
          }),
        )
        .describe("Most expensive first."),
      totals: z.object({ cost_usd: z.array(cost), total_usd: cost }),
    }),
  }),
  "usage.costs": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/usage/costs",
    summary: "Compare charged costs with the costs that vendors reported, by provider and model",
    needs: "viewer",
    query: z.object({
      from: z.coerce.number().int().nonnegative(),
      to: z.coerce.number().int().nonnegative().describe("`from` and `to` are widened to whole hours."),
    }),
    answer: z.object({
      data: z
        .array(
          z.object({
            provider: z.string(),
            model: z.string(),
            attempts: count,
            cost_usd: cost.describe("Charged cost."),
            ...comparedCosts,
          }),
        )
        .describe("Most expensive first, at most 5,000."),
    }),
  }),
  "limits.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/limits",
    summary:
      "List limits and budgets with their usage and forecast. Only admins see limits of other users and their keys",
    needs: "viewer",
    query: pageQuery.extend({
      search: z.string().max(256).optional(),
      key: id.optional(),
      person: id
        .optional()
        .describe(
          "User id. Filter by limits that apply to the user's calls: of the user, their keys, groups and workspaces. Only admins may name another user.",
        ),
      scope: z.enum(limitedObjects).optional(),
      scope_id: id.optional().describe("Filter by one object, together with `scope`. For a `person`: the user id."),
      kind: z.enum(limitKinds).optional(),
      state: z
        .enum(limitStates)
        .optional()
        .describe(
          "`at_risk`: used to 80 % or more, including `exhausted`. `running_out`: budgets that will not last their period.",
        ),
      tag: scopeQuery.tag.describe("Name of a tag. Splits the spend of each budget by its values; at most 50 rows."),
      tag_value: scopeQuery.tag_value.describe("Only the spend with this value of `tag`. `-`: calls without the tag."),
      sort: z
        .enum(limitSorts)
        .optional()
        .describe("Default `place`: workspaces, each with its people, groups and keys."),
    }),
    answer: pageOf(limitUsageRowSchema).extend({
      counts: z
        .object({ all: count, at_risk: count, exhausted: count, running_out: count })
        .describe("Limits on all pages, regardless of `state`. `at_risk` includes `exhausted`."),
      truncated: z.boolean().describe("There are more than 5,000 keys or 5,000 users with limits."),
    }),
  }),
  "limits.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/limits",
    summary:
      "Change one limit of a workspace, group, user or key. It applies at once. Needs the same role as a change of that object",
    needs: "member",
    body: z.strictObject({
      scope: z.enum(limitedObjects),
      scope_id: id.describe("For a `person`: the user id."),
      change: z.discriminatedUnion("kind", [
        z.strictObject({
          kind: z.literal("budget"),
          limit: budgetSchema.shape.usd.nullable().describe("USD. null removes the budget."),
          period: budgetSchema.shape.period.optional().describe("Default: unchanged, or `month`."),
        }),
        z.strictObject({
          kind: z.enum(["rpm", "tpm", "concurrency"]),
          limit: limitsSchema.shape.rpm.unwrap().nullable().describe("null removes the limit."),
        }),
      ]),
    }),
    answer: z.object({ limits: limitsSchema, budget: budgetSchema.nullable() }).describe("Limits of the object now."),
  }),
} as const;
