import { z } from "zod";
import { budgetPolicySchema } from "./budget-policies.ts";
import { budgetPoliciesMax } from "./budget-windows.ts";
import { groupSchema, keySchema, modelSchema, workspaceSchema } from "./config.ts";
import { budgetSchema, limitsSchema } from "./config-limits.ts";
import { userSchema } from "./config-people.ts";
import { guardrailFields, guardrailScopeMax } from "./guardrail-fields.ts";
import { guardrailBounds } from "./guardrail-table.ts";

const budget = budgetSchema.nullable().optional().describe("Replaces the budget. null: no budget.");
const limits = limitsSchema.optional().describe("Replaces all rates. {}: no rates.");

const { usd, period, time_zone, over, increase, split_by, match, ...others } = budgetPolicySchema.shape;

/** Ids too, as for guardrails. */
const namesOrIds = match
  .unwrap()
  .extend({ workspaces: match.unwrap().shape.groups.describe("Slugs. Only for policies of the installation.") })
  .optional()
  .describe("Replaces the conditions. Names as in the config file, or ids.");

/** A null removes what may be left out. */
const budgetPolicies = z
  .array(
    z.strictObject({
      ...others,
      ...{ usd: usd.optional(), period: period.optional() },
      ...{ time_zone: time_zone.nullable(), over: over.nullable(), increase: increase.nullable() },
      ...{ split_by: split_by.nullable(), match: namesOrIds.nullable() },
      enabled: others.enabled.describe("false: without this budget."),
    }),
  )
  .max(budgetPoliciesMax)
  .optional();

/** Names as in the config file, or ids, because forms of the console know ids. */
const scopeNames = z.array(z.string().min(1).max(320)).max(guardrailScopeMax).optional();
const { check, action, at, enabled, ...guardrail } = guardrailFields;
const workspaceGuardrail = z.strictObject({
  ...guardrail,
  ...{ check: check.optional(), action: action.optional(), at: at.nullable() },
  enabled: enabled.describe("false: without this guardrail."),
  groups: scopeNames.describe("Replaces the groups that it applies to. Names or ids."),
  keys: scopeNames.describe("Replaces the keys that it applies to. Names or ids."),
});
const installedGuardrail = workspaceGuardrail.extend({
  workspaces: scopeNames.describe("Replaces the workspaces that it applies to. Slugs or ids."),
});

/** The parts of a config file that can be rehearsed. Fields that are left out do not change. */
export const rehearsedChangeSchema = z
  .strictObject({
    $schema: z.string().optional(),
    workspaces: z
      .array(
        workspaceSchema.pick({ slug: true, models: true, enforce_models: true }).extend({
          ...{ limits, budget },
          groups: z
            .array(groupSchema.pick({ name: true, models: true, enforce_models: true }).extend({ limits, budget }))
            .max(1_000)
            .optional(),
          guardrails: z
            .array(workspaceGuardrail)
            .max(guardrailBounds.perCallMax)
            .optional()
            .describe("Guardrails of the workspace, found by name, or new. They check captured requests and answers."),
          budgets: budgetPolicies.describe("Budgets for some of the workspace's calls, found by name, or new."),
          keys: z
            .array(
              keySchema.pick({ name: true, enforce_models: true }).extend({
                models: keySchema.shape.models
                  .unwrap()
                  .nullable()
                  .optional()
                  .describe("null: all models of the group."),
                ...{ limits, budget },
              }),
            )
            .max(10_000)
            .optional(),
        }),
      )
      .max(1_000)
      .optional(),
    users: z
      .array(
        z.strictObject({
          email: userSchema.shape.email,
          workspaces: z
            .array(z.strictObject({ workspace: workspaceSchema.shape.slug, limits, budget }))
            .min(1)
            .max(1_000),
        }),
      )
      .max(1_000)
      .optional()
      .describe("Limits of people in their workspaces."),
    guardrails: z
      .array(installedGuardrail)
      .max(guardrailBounds.perCallMax)
      .optional()
      .describe("Guardrails of the installation, found by name, or new. Administrators only."),
    budgets: budgetPolicies.describe("Budgets of the installation, found by name, or new. Administrators only."),
    models: z
      .array(
        modelSchema
          .pick({ name: true, price: true, deployments: true, fallbacks: true })
          .partial({ deployments: true }),
      )
      .max(10_000)
      .optional()
      .describe("Prices, deployments and fallbacks of models. Administrators only."),
  })
  .describe("A part of a config file. Fields that are left out do not change.");

export type RehearsedChange = z.infer<typeof rehearsedChangeSchema>;
