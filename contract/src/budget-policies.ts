import { z } from "zod";
import { policyNamesMax, policySplits } from "./budget-windows.ts";
import { budgetFields, checkWindow, type increaseSchema, type overSchema } from "./config-limits.ts";
import { linePattern, lineRule, slugPattern, slugRule } from "./names.ts";

const slug = z.string().regex(slugPattern, slugRule);
const names = z.array(z.string().min(1).max(512)).min(1).max(policyNamesMax);
const tagName = z.string().min(1).max(64).regex(linePattern, lineRule);
const tagValue = z.string().max(256).regex(linePattern, lineRule);

export const policySplitSchema = z
  .union([z.enum(policySplits), z.string().regex(/^tag:.{1,64}$/, "`tag:` and the name of a tag")])
  .describe("Count separately for each value, such as `key` or `tag:team`. Left out: one amount for all calls.");

/** Members with the same meaning in the config file and the API. */
export const policyMatchFields = {
  models: names.optional().describe("Model names, or patterns with *."),
  providers: names.optional().describe("Names of providers. If their budget is used up, calls go to other providers."),
  tags: z
    .record(tagName, z.union([tagValue, z.array(tagValue).min(1).max(100)]))
    .optional()
    .describe("Values of tags. A list: any of them. All tags must fit."),
} as const;

const matchFields = {
  workspaces: z
    .array(slug)
    .min(1)
    .max(policyNamesMax)
    .optional()
    .describe("Slugs. Only for policies of the installation."),
  groups: names.optional().describe("Names of groups: `acme/team`, or `team` in a policy of a workspace."),
  keys: names.optional().describe("Names of API keys: `acme/ci`, or `ci` in a policy of a workspace."),
  people: names.optional().describe("Addresses of users, who pay for calls by their agents and personal keys."),
  ...policyMatchFields,
};

const policyMatchSchema = z.strictObject(matchFields);
export type PolicyMatchConfig = z.infer<typeof policyMatchSchema>;

export const policyFields = {
  name: slug,
  enabled: z.boolean().optional().describe("Default: true."),
  ...budgetFields,
  split_by: policySplitSchema.optional(),
};

/** A separate budget for the calls that fit all members of `match`. */
export const budgetPolicySchema = z
  .strictObject({
    ...policyFields,
    match: z
      .strictObject(matchFields)
      .optional()
      .describe("Calls that count. All members must fit. Left out: every call."),
  })
  .superRefine(checkWindow);

export type BudgetPolicyConfig = z.infer<typeof budgetPolicySchema>;
export type BudgetOver = z.infer<typeof overSchema>;
export type BudgetIncrease = z.infer<typeof increaseSchema>;
