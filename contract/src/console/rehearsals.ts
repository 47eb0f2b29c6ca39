import { z } from "zod";
import { rehearsedChangeSchema } from "../rehearsed-change.ts";
import { capturedResultFields } from "./guardrail-replay.ts";
import { route } from "./route.ts";
import { limitScopes } from "./states.ts";
import { at, count, id, maybeAt, pageOf, pageQuery, personSchema } from "./words.ts";

/** Longest period, in days. */
export const rehearsalDaysMax = 400;
const changeBytesMax = 1024 * 1024;

const rehearsalStates = ["waiting", "running", "done", "failed", "cancelled"] as const;

/** Kinds of limits and grants that refuse a call. */
export const rehearsedLimits = ["rpm", "tpm", "concurrency", "budget", "models", "deployments"] as const;

/** Facts that a rehearsal lacks or estimates. */
export const rehearsalUnknowns = [
  "callers_react",
  "refused_then",
  "holds_estimated",
  "tokens_forecast",
  "streams_judged_at_end",
  "keys_deleted",
  "entries_deleted",
  "unpriced",
  "vendor_costs",
  "other_upstreams",
  "health_unknown",
] as const;

const nanoUsd = z
  .string()
  .regex(/^-?\d+$/)
  .describe("Nano-USD, exact, as text.");
const share = z.number().min(0).max(1);

const scopeName = {
  scope: z.enum([...limitScopes, "model"]),
  scope_id: z.string(),
  label: z.string().describe("`key acme/ci`."),
};

const costs = {
  recorded_nano_usd: nanoUsd,
  rehearsed_nano_usd: nanoUsd,
};

const refusedCallSchema = z.object({
  request_id: id,
  at,
  workspace: z.object({ id, slug: z.string() }),
  key: z.object({ id, name: z.string() }),
  person: personSchema.nullable(),
  model: z.string(),
  ...scopeName,
  limit: z.enum(rehearsedLimits),
});

const rehearsalResultSchema = z.object({
  calls: count.describe("Calls of the period that were not refused then."),
  refused: count.describe("Calls that the change would have refused."),
  refused_anyway: count.describe(
    "Calls that current limits would refuse without the change: they have changed since the calls were made.",
  ),
  streams_ended: count.describe("Streams that a budget would have ended early."),
  ...costs,
  difference_nano_usd: nanoUsd.describe("Rehearsed minus recorded cost. Negative: money is saved."),
  refused_nano_usd: nanoUsd.describe("Recorded cost of the calls that would have been refused."),
  repriced_nano_usd: nanoUsd.describe("Difference by other prices and other models."),
  rules: z
    .array(
      z.object({
        ...scopeName,
        limit: z.enum(rehearsedLimits),
        changed: z.boolean().describe("false: the change does not contain it. Its calls count as `refused_anyway`."),
        calls: count,
        recorded_nano_usd: nanoUsd,
        first_at: at,
      }),
    )
    .describe("Limits and grants that would have refused calls, most calls first; at most 100."),
  people_touched: count.describe("People with refused calls. Shared keys have no person."),
  people: z
    .array(z.object({ person: personSchema, refused: count, ...costs }))
    .describe("Most refused calls first; at most 100."),
  keys_touched: count,
  keys: z
    .array(
      z.object({
        key: z.object({ id, name: z.string() }),
        workspace: z.object({ id, slug: z.string() }),
        calls: count,
        refused: count,
        ...costs,
      }),
    )
    .describe("Keys with refused calls or another cost, most refused calls first; at most 100."),
  models: z
    .array(z.object({ model: z.string(), calls: count, refused: count, ...costs }))
    .describe("Requested models, most calls first; at most 100."),
  hours: z.array(z.object({ at, calls: count, refused: count, ...costs })).describe("Hours with calls, oldest first."),
  first: refusedCallSchema.nullable().describe("The first refused call."),
  worst: z
    .object({ at: at.describe("Start of the minute."), refused: count })
    .nullable()
    .describe("The minute with the most refused calls."),
  requests: z.array(refusedCallSchema).describe("The first refused calls, at most 50."),
  moved: z
    .array(
      z.object({
        from: z.object({ model: z.string(), provider: z.string() }),
        to: z.object({ model: z.string(), provider: z.string() }),
        calls: count,
        ...costs,
      }),
    )
    .describe("Calls that another model or provider would have answered, most calls first; at most 100."),
  guardrails: z
    .array(
      z.object({
        name: z.string(),
        workspace: z.object({ id, slug: z.string() }).nullable().describe("null: all workspaces."),
        ...capturedResultFields,
      }),
    )
    .describe(
      "Guardrails of the change on captured requests, newest first, at most 5,000 each. They refuse no calls here.",
    ),
  unknown: z
    .array(z.object({ code: z.enum(rehearsalUnknowns), calls: count }))
    .describe("Facts that are missing or estimated, with the number of calls that each concerns."),
});
export type RehearsalResult = z.infer<typeof rehearsalResultSchema>;

const rehearsalSchema = z.object({
  id,
  state: z.enum(rehearsalStates),
  workspace: z.object({ id, slug: z.string() }).nullable().describe("null: all workspaces that the change concerns."),
  from: at,
  to: at,
  change: rehearsedChangeSchema,
  entries_read: count,
  progress: share.describe("Share of the period that was read."),
  problem: z.string().nullable().describe("Why it failed."),
  created_at: at,
  ended_at: maybeAt,
  expires_at: at.describe("It is deleted then."),
});
export type Rehearsal = z.infer<typeof rehearsalSchema>;

const withResult = rehearsalSchema.extend({ result: rehearsalResultSchema.nullable().describe("null: not done.") });
export type RehearsalWithResult = z.infer<typeof withResult>;

export const rehearsalRoutes = {
  "rehearsals.create": route({
    method: "POST",
    path: "/api/rehearsals",
    summary:
      "Calculate what a change of the configuration would have done to past calls. Nothing is changed. Starts a job; read its result with `GET /api/rehearsals/{rehearsal}`",
    needs: "admin",
    body: z.strictObject({
      change: rehearsedChangeSchema,
      workspace: z
        .string()
        .min(1)
        .max(128)
        .optional()
        .describe(
          "Id or slug. Required unless you are an administrator. Default: all workspaces that the change concerns.",
        ),
      from: z.int().nonnegative().optional().describe("Unix milliseconds. Default: 7 days before `to`."),
      to: z.int().nonnegative().optional().describe("Unix milliseconds. Default: now."),
    }),
    bodyBytesMax: changeBytesMax,
    answer: rehearsalSchema,
    status: 202,
  }),
  "rehearsals.list": route({
    method: "GET",
    path: "/api/rehearsals",
    summary: "List your rehearsals of the last day, newest first, without their results",
    needs: "admin",
    query: pageQuery,
    answer: pageOf(rehearsalSchema),
  }),
  "rehearsals.get": route({
    method: "GET",
    path: "/api/rehearsals/{rehearsal}",
    summary: "Read one of your rehearsals, with its progress and result",
    needs: "admin",
    answer: withResult,
  }),
  "rehearsals.cancel": route({
    method: "POST",
    path: "/api/rehearsals/{rehearsal}/cancel",
    summary: "Cancel a rehearsal that waits or runs",
    needs: "admin",
    answer: rehearsalSchema,
  }),
} as const;
