import { z } from "zod";

/** What limits a workspace, a group, a person in a workspace, or a key. */
export const usd = z.number().nonnegative().max(9_000_000);
const positiveInt = z.int().positive().max(1_000_000_000_000);

const failModeSchema = z.enum(["open", "closed"]);

export const limitsSchema = z.strictObject({
  rpm: positiveInt.optional().describe("Requests per minute."),
  tpm: positiveInt.optional().describe("Tokens per minute, input and output together."),
  concurrency: positiveInt.optional().describe("Requests at the same time."),
  fail: failModeSchema
    .optional()
    .describe("When the shared store that counts is down: let through (open) or refuse (closed)."),
});

export const budgetSchema = z.strictObject({
  usd: usd.describe("The most that may be spent in one period."),
  period: z.enum(["day", "week", "month", "total"]).describe("UTC; a week starts on Monday."),
  fail: failModeSchema.optional(),
});

export type LimitsConfig = z.infer<typeof limitsSchema>;
export type BudgetConfig = z.infer<typeof budgetSchema>;
