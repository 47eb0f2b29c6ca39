import { z } from "zod";
import { type ErrorCode, errorCodes } from "./error-codes.ts";
import { modelTypeSchema } from "./model-type.ts";

/**
 * Response bodies that the gateway writes itself. They are loose: fields may be added at any time, but none is removed.
 * Times are Unix seconds unless noted otherwise; amounts are USD.
 */
const unixSeconds = z.int().describe("Unix seconds.");
const count = z.int().nonnegative();
const usd = z.number().nonnegative().describe("USD.");

export const modelAnswerSchema = z.looseObject({
  id: z.string(),
  object: z.literal("model"),
  created: unixSeconds,
  owned_by: z.string(),
  type: modelTypeSchema,
  endpoints: z.array(z.string()).describe("Paths at which this model can be called."),
  available: z.literal(true),
});

export const modelListAnswerSchema = z.looseObject({
  object: z.literal("list"),
  data: z.array(modelAnswerSchema).describe("Sorted by id."),
});

const alwaysNull = z.null().describe("Always null.");

export const anthropicModelAnswerSchema = z.looseObject({
  type: z.literal("model"),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string().describe("RFC 3339."),
  max_input_tokens: alwaysNull,
  max_tokens: alwaysNull,
  capabilities: alwaysNull,
  lifecycle: z.literal("active"),
  line: alwaysNull,
  deprecated_at: alwaysNull,
  retires_at: alwaysNull,
});

export const anthropicModelListAnswerSchema = z.looseObject({
  data: z.array(anthropicModelAnswerSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

export const geminiModelAnswerSchema = z.looseObject({
  name: z.string().describe("`models/` and the model's name."),
  displayName: z.string(),
  outputTokenLimit: count.optional(),
  supportedGenerationMethods: z.array(z.string()),
});

export const geminiModelListAnswerSchema = z.looseObject({
  models: z.array(geminiModelAnswerSchema).describe("Sorted by name."),
  nextPageToken: z.string().optional().describe("Absent on the last page."),
});

export const usageTotalsSchema = z.looseObject({
  requests: count,
  input_tokens: count,
  output_tokens: count,
  cost_usd: z.number().describe("USD. Negative where adjustments exceed the cost of calls."),
  vendor_cost_usd: usd
    .nullable()
    .describe("Cost that vendors reported, whether or not it was charged. null: none was reported."),
  own_cost_usd: usd.nullable().describe("Cost of the same calls at the configured prices."),
});

export const modelUsageSchema = usageTotalsSchema.extend({
  model: z.string().optional().describe("Left out with `group_by=tag`."),
  tag: z.string().optional().describe("With `group_by=tag`: the name of the tag."),
  tag_value: z.string().nullable().optional().describe("null: calls without the tag."),
});

export const limitUsageSchema = z.looseObject({
  scope: z
    .string()
    .describe(
      "The limited object: `workspace acme`, `group acme/default`, `person acme/ada@example.com`, `key acme/ci`.",
    ),
  kind: z.string().describe("`rpm`, `tpm`, `concurrency` or `budget`."),
  period: z.string().nullable().describe("`day`, `week`, `month` or `total` for a budget, else null."),
  limit: z.number().describe("Requests, tokens, or USD for a budget."),
  used: z.number().nullable().describe("null: spending of the budget cannot be read now."),
  resets_at: unixSeconds.nullable().describe("Unix seconds. null: it does not reset automatically."),
});

export const usageReportSchema = z.looseObject({
  object: z.literal("usage"),
  from: unixSeconds,
  to: unixSeconds,
  data: z.array(modelUsageSchema),
  totals: usageTotalsSchema,
  limits: z.array(limitUsageSchema),
});

const codes = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]];

const limitMet = {
  limit: z.number().optional().describe("402 and 429: the limit that was reached."),
  used: z.number().optional().describe("402 and 429: usage of the limit."),
  held: z.number().optional().describe("For a budget: USD of `used` that is reserved for calls in flight."),
  scope: z.string().optional().describe("402 and 429: the limited object, such as `key acme/ci`."),
  period: z.string().optional().describe("For a budget: its period."),
  resets_at: unixSeconds.nullable().optional().describe("402 and 429: when the limit resets, in Unix seconds."),
};

export const errorBodySchema = z.looseObject({
  error: z.looseObject({
    message: z.string().describe("For people. Do not match on it."),
    type: z.string().describe("OpenAI's error type."),
    param: z.string().nullable().describe("The invalid field. null: the error is not about a field."),
    code: z
      .enum(codes)
      .or(z.string())
      .nullable()
      .describe("For programs. A 4xx response of an upstream is passed through and may have another code."),
    ...limitMet,
  }),
});

export const anthropicErrorBodySchema = z.looseObject({
  type: z.literal("error"),
  error: z.looseObject({
    type: z.string().describe("Anthropic's error type."),
    message: z.string().describe("For people. Do not match on it."),
    ...limitMet,
  }),
  request_id: z.string().nullable().optional(),
});

export const geminiErrorBodySchema = z.looseObject({
  error: z.looseObject({
    code: z.int().describe("The HTTP status."),
    message: z.string().describe("For people. Do not match on it."),
    status: z.string().describe("Google's name for the status."),
    details: z.array(z.looseObject({ "@type": z.string() })).optional(),
  }),
});

/** Amazon Bedrock's error. */
export const awsErrorBodySchema = z.looseObject({ message: z.string() });

export const interactionErrorBodySchema = z.looseObject({
  error: z.looseObject({
    code: z.string().describe("A word, mostly a code of the table in docs/api.md."),
    message: z.string().describe("For people. Do not match on it."),
  }),
});

export const statusAnswerSchema = z.looseObject({
  setup_needed: z.boolean().describe("True until the first administrator exists."),
  demo: z.boolean().describe("True while the built-in demo provider serves the calls."),
});

export const setupRequestSchema = z.strictObject({
  token: z.string().min(1).max(256).describe("The one-time token from the link that the gateway prints at startup."),
  email: z.email().max(254),
  password: z.string().min(12, "at least 12 characters").max(256),
});

export const setupAnswerSchema = z.looseObject({ email: z.string() });
