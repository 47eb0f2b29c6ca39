import { z } from "zod";
import { type ErrorCode, errorCodes } from "./error-codes.ts";
import { modelTypeSchema } from "./model-type.ts";

/**
 * The bodies that the gateway shapes itself. They are loose: a field may be added at any time, none is taken away.
 * Times are Unix seconds unless a field says otherwise; money is USD.
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
  endpoints: z.array(z.string()).describe("Paths this model can be called on."),
  available: z.literal(true),
});

export const modelListAnswerSchema = z.looseObject({
  object: z.literal("list"),
  data: z.array(modelAnswerSchema).describe("Sorted by id."),
});

const notKnown = z.null().describe("Sluice does not know it of a model.");

export const anthropicModelAnswerSchema = z.looseObject({
  type: z.literal("model"),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string().describe("RFC 3339."),
  max_input_tokens: notKnown,
  max_tokens: notKnown,
  capabilities: notKnown,
  lifecycle: z.literal("active"),
  line: notKnown,
  deprecated_at: notKnown,
  retires_at: notKnown,
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
  cost_usd: usd,
  vendor_cost_usd: usd
    .nullable()
    .describe(
      "What vendors reported for their calls, whether or not it is what was charged. null: none reported a cost.",
    ),
  own_cost_usd: usd.nullable().describe("What those same calls cost by the configured prices."),
});

export const modelUsageSchema = usageTotalsSchema.extend({ model: z.string() });

export const limitUsageSchema = z.looseObject({
  scope: z
    .string()
    .describe("Whose limit: `workspace acme`, `group acme/default`, `person acme/ada@example.com`, `key acme/ci`."),
  kind: z.string().describe("`rpm`, `tpm`, `concurrency` or `budget`."),
  period: z.string().nullable().describe("`day`, `week`, `month` or `total` for a budget, else null."),
  limit: z.number().describe("Requests, tokens, or USD for a budget."),
  used: z.number().nullable().describe("Null for a budget whose spending cannot be read now."),
  resets_at: unixSeconds.nullable().describe("Unix seconds; null when it does not reset by itself."),
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
  limit: z.number().optional().describe("402 and 429: the limit that was met."),
  used: z.number().optional().describe("402 and 429: how far it was used."),
  held: z.number().optional().describe("Of a budget: USD of `used` that is held for calls in flight."),
  scope: z.string().optional().describe("402 and 429: whose limit it is."),
  period: z.string().optional().describe("Of a budget: its period."),
  resets_at: unixSeconds.nullable().optional().describe("402 and 429: Unix seconds when it frees again."),
};

export const errorBodySchema = z.looseObject({
  error: z.looseObject({
    message: z.string().describe("For people. Never match on it."),
    type: z.string().describe("OpenAI's error type."),
    param: z.string().nullable().describe("The field that is wrong, when one is."),
    code: z
      .enum(codes)
      .or(z.string())
      .nullable()
      .describe("For programs. An upstream's own 4xx answer is passed through and may hold a code of its own."),
    ...limitMet,
  }),
});

export const anthropicErrorBodySchema = z.looseObject({
  type: z.literal("error"),
  error: z.looseObject({
    type: z.string().describe("Anthropic's error type."),
    message: z.string().describe("For people. Never match on it."),
    ...limitMet,
  }),
  request_id: z.string().nullable().optional(),
});

export const geminiErrorBodySchema = z.looseObject({
  error: z.looseObject({
    code: z.int().describe("The status."),
    message: z.string().describe("For people. Never match on it."),
    status: z.string().describe("Google's name of the status."),
    details: z.array(z.looseObject({ "@type": z.string() })).optional(),
  }),
});

export const statusAnswerSchema = z.looseObject({
  setup_needed: z.boolean().describe("True until the first administrator exists."),
  demo: z.boolean().describe("True when the built-in demo provider is what answers."),
});

export const setupRequestSchema = z.strictObject({
  token: z.string().min(1).max(256).describe("The one-time token of the link that the gateway prints at its start."),
  email: z.email().max(254),
  password: z.string().min(12, "at least 12 characters").max(256),
});

export const setupAnswerSchema = z.looseObject({ email: z.string() });
