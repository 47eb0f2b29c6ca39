import { z } from "zod";
import { guardrailChecks } from "../guardrail-table.ts";
import { rehearsedChangeSchema } from "../rehearsed-change.ts";
import { route } from "./route.ts";
import { limitScopes, rehearsedChecksMax, rehearsedFindingsMax } from "./states.ts";
import { at, count, id, maybeAt, pageOf, pageQuery, personSchema } from "./words.ts";

/** Longest period, in days. */
export const rehearsalDaysMax = 400;
const changeBytesMax = 1024 * 1024;

const rehearsalStates = ["waiting", "running", "done", "failed", "cancelled"] as const;

/** Kinds of limits and grants that refuse a call. */
export const rehearsedLimits = ["rpm", "tpm", "concurrency", "budget", "models", "deployments", "guardrail"] as const;

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
  "not_captured",
  "captures_bound",
  "checks_not_run",
  "allowed_cost",
  "allowed_unknown",
] as const;

const nanoUsd = z
  .string()
  .regex(/^-?\d+$/)
  .describe("Nano-USD, exact, as text.");
const share = z.number().min(0).max(1);

const scopeName = {
  scope: z.enum([...limitScopes, "model", "guardrail"]),
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

/** Sums of one side: of the captured requests, or of their answers. */
const sideSchema = z.object({
  examined: count,
  blocked: count,
  masked: count,
  flagged: count,
  unreadable: count.describe("Files, pictures and other bodies that are not stored as text."),
  cut: count.describe("Only the beginning was captured, and examined."),
  redacted: count.describe(
    "Credentials were removed before the body was stored, so the guardrail could not find them there.",
  ),
  failed: count,
});

const rehearsedGuardrailSchema = z.object({
  name: z.string(),
  workspace: z.object({ id, slug: z.string() }).nullable().describe("null: all workspaces."),
  mode: z
    .enum(["enforced", "shadow", "removed"])
    .describe("With the change. Only requests that an enforced one blocks are `refused`."),
  not_run: z
    .enum(guardrailChecks)
    .nullable()
    .describe("Nothing was examined: this check asks a model or a service, which would cost money and send the texts."),
  calls: count.describe("Calls to which it would apply, captured or not."),
  captured: count.describe("Calls with a captured body that were examined."),
  found: count.describe("Captured requests with a finding in the request or the answer."),
  input: sideSchema,
  output: sideSchema.describe("Answers of requests that would not have been blocked."),
  types: z.array(z.object({ type: z.string(), findings: count })),
  people: z
    .array(z.object({ person: personSchema, requests: count }))
    .describe("Senders of the requests with findings, most requests first; at most 100. Shared keys have no person."),
  people_touched: count,
  keys: z
    .array(z.object({ id, name: z.string(), requests: count }))
    .describe("Keys of the requests with findings, most requests first; at most 100."),
  keys_touched: count,
  hours: z
    .array(z.object({ at, blocked: count, masked: count, flagged: count }))
    .describe("Hours with findings, oldest first."),
  requests: z
    .array(
      z.object({
        request_id: id,
        at,
        workspace: z.object({ id, slug: z.string() }),
        key: z.object({ id, name: z.string() }),
        person: personSchema.nullable(),
        side: z.enum(["input", "output"]),
        verdict: z.enum(["blocked", "masked", "flagged", "failed"]),
      }),
    )
    .describe(`Requests with findings, newest first; at most ${rehearsedFindingsMax}.`),
  recorded: z
    .object({ blocked: count, masked: count, flagged: count })
    .describe("Requests that it refused, masked or flagged then, captured or not."),
  allowed: count.describe("Requests that it refused then, and that would be let through."),
  allowed_unknown: count.describe(
    "Requests that it refused then. Whether it would again is unknown: they were not captured, or it asks a model or a service.",
  ),
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
    .array(rehearsedGuardrailSchema)
    .describe(
      `Guardrails of the change on captured requests and answers, oldest first, at most ${rehearsedChecksMax.toLocaleString("en")} checks.`,
    ),
  allowed: count.describe(
    "Requests that guardrails of the change refused then, and that would be let through. Their cost is unknown.",
  ),
  unknown: z
    .array(z.object({ code: z.enum(rehearsalUnknowns), calls: count }))
    .describe("Facts that are missing or estimated, with the number of calls that each concerns."),
});
export type RehearsalResult = z.infer<typeof rehearsalResultSchema>;

const rehearsalSchema = z.object({
  id,
  state: z.enum(rehearsalStates),
  created_by: personSchema,
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
    summary: "Read a rehearsal of a change that you may make, with its progress and result",
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
