import { z } from "zod";

export const usd = z.number().nonnegative().max(9_000_000);
const positiveInt = z.int().positive().max(1_000_000_000_000);

const failModeSchema = z.enum(["open", "closed"]);

const enforceSchema = z
  .boolean()
  .optional()
  .describe("`false`: shadow mode. Only record the calls that would have been refused. Default: true.");

const shadowOf = (what: string) => `\`false\`: shadow mode. Only record the calls that ${what} would have refused.`;
export const enforceModels = z.boolean().describe(shadowOf("`models`"));
export const enforceAllowedIps = z.boolean().describe(shadowOf("`allowed_ips`"));
const byDefault = (schema: z.ZodBoolean) => schema.optional().describe(`${schema.description} Default: true.`);
export const enforceModelsSchema = byDefault(enforceModels);
export const enforceAllowedIpsSchema = byDefault(enforceAllowedIps);

export const limitsSchema = z.strictObject({
  rpm: positiveInt.optional().describe("Requests per minute."),
  tpm: positiveInt.optional().describe("Tokens per minute, input and output together."),
  concurrency: positiveInt.optional().describe("Simultaneous requests."),
  fail: failModeSchema
    .optional()
    .describe("If the shared counters are unavailable: allow calls (open) or refuse them (closed)."),
  enforce: enforceSchema,
});

export const budgetSchema = z.strictObject({
  usd: usd.describe("Maximum spend per period."),
  period: z.enum(["day", "week", "month", "total"]).describe("Periods are in UTC; a week starts on Monday."),
  fail: failModeSchema.optional(),
  enforce: enforceSchema,
});

export type LimitsConfig = z.infer<typeof limitsSchema>;
export type BudgetConfig = z.infer<typeof budgetSchema>;
