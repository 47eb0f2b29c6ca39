import { z } from "zod";
import { guardrailActions, guardrailSides, guardrailVerdicts } from "../guardrail-table.ts";
import { route } from "./route.ts";
import { findingsDimensions } from "./states.ts";
import { at, count, id, ms, pageOf, pageQuery, personSchema } from "./words.ts";

const verdict = z.enum(guardrailVerdicts);

/** A check that found something or failed. */
export const guardrailCheckRowSchema = z.object({
  id,
  at,
  request_id: id,
  workspace: z.object({ id, slug: z.string() }),
  group: z.object({ id, name: z.string() }),
  key: z.object({ id, name: z.string() }),
  person: personSchema.nullable().describe("Owner of the key or the agent. null: a shared key."),
  guardrail: z.object({ id, name: z.string() }).describe("Its name at the time of the check."),
  definition: z.string().describe("Digest of what the guardrail did at the time of the check, without its secret."),
  side: z.enum(guardrailSides),
  action: z.enum(guardrailActions),
  enforced: z.boolean().describe("false: shadow mode. The verdict had no effect."),
  verdict: verdict.describe("In shadow mode, what would have been done."),
  counts: z.record(z.string(), count).describe("Findings by type."),
  paths: z.array(z.string()).describe("Members of the body in which something was found; at most ten."),
  unmasked: count.describe("Findings in signed texts, which cannot be masked."),
  unreadable: count.describe("Media and encrypted parts, which were not checked."),
  duration_ms: ms,
  error: z.string().nullable().describe("Why the check failed. null: it did not."),
});
export type GuardrailCheckRow = z.infer<typeof guardrailCheckRowSchema>;

export const guardrailFindingsFilterSchema = z.object({
  from: z.coerce.number().int().nonnegative().optional().describe("Default: seven days before `to`."),
  to: z.coerce.number().int().nonnegative().optional().describe("Default: now."),
  guardrail: id.optional(),
  type: z.string().min(1).max(200).optional().describe("Checks with a finding of this type."),
  side: z.enum(guardrailSides).optional(),
  verdict: verdict.optional(),
  enforced: z.enum(["true", "false"]).optional().describe("`false`: only shadow mode."),
  key: id.optional(),
  person: id.optional().describe("User id. Only admins may name another user."),
  model: z.string().min(1).max(256).optional().describe("Checks of requests to this model."),
});

/** The longest time of a report. */
export const findingsDaysMax = 400;

/** The columns of the CSV file, one line for each check. */
export const guardrailCheckCsvColumns = [
  ...["time", "request_id", "workspace", "group", "key", "person", "guardrail", "definition", "side", "action"],
  ...["enforced", "verdict", "findings", "paths", "unmasked", "unreadable", "duration_ms", "error"],
] as const;

const sums = {
  checks: count.describe("Checks that found something or failed."),
  requests: count.describe("Requests of these checks."),
  people: count.describe("People who made these requests. Requests with shared keys have none."),
};

const guardrailFindingsSchema = z.object({
  from: at,
  to: at,
  step_ms: z.int(),
  totals: z.object({
    ...sums,
    checked: count
      .nullable()
      .describe(
        "All checks of the whole hours of that time, also without findings. null: not counted by type, key, person or model, or for members and viewers.",
      ),
  }),
  at: z.array(at).describe("Start of each step. Every list in `values` has the same length."),
  series: z
    .array(
      z.object({
        id: z
          .string()
          .describe(
            "Of `by`: a verdict (in shadow mode `shadow:` and the verdict), type, guardrail, person or key. `-`: shared keys, which have no person. Empty: the rest.",
          ),
        label: z.string(),
        total: count,
        values: z.array(count),
      }),
    )
    .describe("Checks at each step, for `by=type` findings. Largest first: at most nine, and the rest."),
  guardrails: z
    .array(z.object({ id, name: z.string(), verdict, enforced: z.boolean(), ...sums }))
    .describe("By guardrail, verdict and mode, most checks first; at most 200."),
  types: z
    .array(z.object({ type: z.string(), findings: count }))
    .describe("By type, most findings first; at most 100."),
  people: z.array(z.object({ person: personSchema, checks: count, requests: count })).describe("At most 50."),
  keys: z.array(z.object({ id, name: z.string(), checks: count, requests: count })).describe("At most 50."),
});
export type GuardrailFindings = z.infer<typeof guardrailFindingsSchema>;

export const guardrailFindingRoutes = {
  "guardrails.findings": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/guardrail-findings",
    summary:
      "Count what guardrails found, over time and by guardrail, type, person and key. Members and viewers see only their own requests and requests with shared keys",
    needs: "viewer",
    query: guardrailFindingsFilterSchema.extend({
      step: z
        .enum(["hour", "day"])
        .optional()
        .describe("Of `series`. Default: `hour` up to three days, else `day` (UTC)."),
      by: z.enum(findingsDimensions).optional().describe("Of `series`. Default: `verdict`."),
    }),
    answer: guardrailFindingsSchema,
  }),
  "guardrails.checks": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/guardrail-checks",
    summary:
      "List checks of guardrails that found something or failed, newest first. Members and viewers see only their own requests and requests with shared keys",
    needs: "viewer",
    query: pageQuery.extend(guardrailFindingsFilterSchema.shape),
    answer: pageOf(guardrailCheckRowSchema),
  }),
} as const;
