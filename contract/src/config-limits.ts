import { z } from "zod";
import { budgetPeriods, usdMax, windowFaults } from "./budget-windows.ts";

export const usd = z.number().nonnegative().max(usdMax);
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

export const timeZoneSchema = z
  .string()
  .max(64)
  .refine(isTimeZone, "must be a time zone, such as Europe/Berlin")
  .describe("Time zone of the period, such as `Europe/Berlin`. Not for `total` and rolling windows. Default: UTC.");

export const overSchema = z
  .union([z.literal("refuse"), z.strictObject({ fallback: z.string().min(1).max(256).describe("Name of a model.") })])
  .describe("`refuse` calls that do not fit (the default), or run them with another model.");

export const increaseSchema = z
  .strictObject({
    usd: usd.positive().describe("USD in addition, in each period."),
    until: z.iso.datetime({ offset: true }).describe("When it ends."),
    reason: z.string().trim().min(1).max(500),
  })
  .describe("A temporary increase.");

export const budgetFields = {
  usd: usd.describe("Maximum spend per period."),
  period: z.enum(budgetPeriods).describe("A week starts on Monday."),
  time_zone: timeZoneSchema.optional(),
  rolling: z
    .boolean()
    .optional()
    .describe(
      "Count the last 60 minutes, 24 hours, 7 days or 30 days at any moment, instead of a calendar period. Not for `total`.",
    ),
  fail: failModeSchema.optional(),
  enforce: enforceSchema,
  over: overSchema.optional(),
  increase: increaseSchema.optional(),
};

export function checkWindow(
  budget: Parameters<typeof windowFaults>[0],
  context: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  for (const fault of windowFaults(budget)) context.addIssue({ code: "custom", ...fault });
}

export const budgetSchema = z.strictObject(budgetFields).superRefine(checkWindow);

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

export type LimitsConfig = z.infer<typeof limitsSchema>;
export type BudgetConfig = z.infer<typeof budgetSchema>;
