import { z } from "zod";
import {
  capabilitiesSchema,
  contextWindow,
  maxOutputTokens,
  modelSchema,
  priceSchema,
  unpricedOfModel,
} from "../config.ts";
import { modelTypeSchema } from "../model-type.ts";
import { healthSchema } from "./providers.ts";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { at, cost, count, id, managedBy, nothing, pageOf, usd } from "./words.ts";

export const consoleDeploymentSchema = z.object({
  id,
  provider: z.string(),
  upstream_model: z.string(),
  priority: z.int(),
  weight: z.int(),
  enabled: z.boolean(),
  capabilities: capabilitiesSchema.nullable(),
  health: healthSchema,
});
export type ConsoleDeployment = z.infer<typeof consoleDeploymentSchema>;

export const consoleModelSchema = z.object({
  name: z.string(),
  type: modelTypeSchema,
  owned_by: z.string(),
  endpoints: z.array(z.string()),
  untranslated_endpoints: z
    .array(z.string())
    .describe("Entries of `endpoints` for which the first deployments need no translation."),
  fallbacks: z.array(z.string()),
  max_output_tokens: z
    .int()
    .nullable()
    .describe("Output tokens to reserve in budgets during a call that sets no maximum. null: 8192."),
  price: priceSchema.nullable().describe("In the units of the config file. null: no price, calls cost 0."),
  price_version: z.string().nullable(),
  price_origin: z
    .enum(["price_list", "set"])
    .nullable()
    .describe(
      "`price_list`: from the price list; `set`: set by a user, never changed by the price list. null: no price.",
    ),
  context_window: count
    .nullable()
    .describe("Tokens, as set, or else from the price list for the first deployment's model."),
  list_price: z
    .object({ price: priceSchema, guessed: z.boolean().describe("From an entry with a similar name. Check it.") })
    .nullable()
    .describe("Price in the price list of the first deployment's model. null: unknown."),
  next_price: z
    .object({ from: at, price: priceSchema, origin: z.enum(["price_list", "set"]) })
    .nullable()
    .describe("A price that takes effect at `from`."),
  price_guessed: z.boolean().describe("The price is from a price list entry with a similar name. Check it."),
  context_window_origin: z.enum(["price_list", "set"]).nullable().describe("null: unknown."),
  deprecated: z
    .boolean()
    .describe("The vendor has retired the first deployment's model or has announced its retirement."),
  retires_at: at.nullable().describe("Retirement date. null: unknown."),
  unpriced: z
    .enum(["allow", "block"])
    .nullable()
    .describe("Policy of this model for calls without a price. null: as in the settings."),
  calls: z
    .enum(["priced", "free", "borrowed_price", "blocked", "blocked_in_budgets"])
    .describe(
      "How calls are charged: at the price, at zero, at the price that `settings.unpriced` names, refused with `model_not_priced`, or at zero unless a budget applies, which refuses them.",
    ),
  unpriced_usage: z
    .array(z.string())
    .describe(
      "Usage classes of the last seven days that the price leaves out, so they cost nothing or less than in the price list. Empty if the vendor's own cost is charged.",
    )
    .meta({ needs: "administrator" }),
  deployments: z.array(consoleDeploymentSchema).meta({ needs: "administrator" }),
  last_week: z.object({ requests: count, failed_requests: count, cost_usd: cost }).meta({ needs: "administrator" }),
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleModel = z.infer<typeof consoleModelSchema>;

export const priceVersionSchema = z.object({
  id,
  effective_from: at,
  price: priceSchema,
  current: z.boolean(),
  origin: z.enum(["price_list", "set"]),
});
export type ConsolePriceVersion = z.infer<typeof priceVersionSchema>;

const deploymentBody = z.strictObject({
  provider: z.string().min(1).max(256),
  upstream_model: z.string().min(1).max(256).optional(),
  priority: z.int().min(0).max(1_000).optional(),
  weight: z.int().min(0).max(1_000_000).optional(),
  enabled: z.boolean().optional(),
  capabilities: capabilitiesSchema.nullable().optional(),
});

const modelFields = {
  type: modelTypeSchema.optional(),
  owned_by: z.string().min(1).max(256).optional(),
  max_output_tokens: maxOutputTokens.nullable().optional().describe("null: the default."),
  context_window: contextWindow.nullable().optional().describe("null: as in the price list."),
  fallbacks: z.array(z.string().min(1).max(256)).max(10).optional(),
  unpriced: unpricedOfModel
    .nullable()
    .optional()
    .describe("Policy for calls without a price. null: as in the settings."),
  price: priceSchema.nullable().optional().describe("Takes effect now and removes `next_price`."),
  use_list_price: z
    .literal(true)
    .optional()
    .describe(
      "Take the price from the price list now, and follow its changes from then on. Not together with `price`.",
    ),
  next_price: z
    .strictObject({ from: at.describe("Unix milliseconds, in the future."), price: priceSchema })
    .nullable()
    .optional()
    .describe("A price that takes effect later. null removes it."),
  deployments: z
    .array(deploymentBody)
    .min(1)
    .max(100)
    .describe("The complete list. Deployments that are not in it are removed."),
};

/** Model names may contain slashes; in a path they are percent-encoded. */
export const modelRoutes = {
  "models.list": route({
    method: "GET",
    path: "/api/models",
    summary: "List models. Only administrators see how they are served",
    needs: "viewer",
    query: z.object({ search: z.string().max(256).optional() }),
    answer: pageOf(consoleModelSchema),
  }),
  "models.create": route({
    method: "POST",
    path: "/api/models",
    summary: "Create a model",
    needs: "administrator",
    body: z.strictObject({ name: modelSchema.shape.name, ...modelFields }),
    answer: consoleModelSchema,
    status: 201,
  }),
  "models.show": route({
    method: "GET",
    path: "/api/models/{model}",
    summary: "Get a model",
    needs: "viewer",
    answer: consoleModelSchema,
  }),
  "models.update": route({
    method: "PATCH",
    path: "/api/models/{model}",
    summary: "Update a model. A changed price becomes a new version; past calls keep their price",
    needs: "administrator",
    body: z.strictObject(modelFields).partial(),
    answer: consoleModelSchema,
  }),
  "models.remove": route({
    method: "DELETE",
    path: "/api/models/{model}",
    summary: "Delete a model. Its ledger entries and prices are kept",
    needs: "administrator",
    fresh: true,
    answer: nothing,
  }),
  "models.prices": route({
    method: "GET",
    path: "/api/models/{model}/prices",
    summary: "List the prices of a model, newest first",
    needs: "administrator",
    answer: pageOf(priceVersionSchema),
  }),
  "models.simulate": route({
    method: "POST",
    path: "/api/models/{model}/simulate",
    summary: "Calculate the cost of past usage at another price",
    needs: "administrator",
    body: z.strictObject({ price: priceSchema, from: at, to: at }),
    answer: z.object({
      from: at,
      to: at,
      requests: count,
      usage: z
        .record(z.string(), z.number())
        .describe("Tokens by class, images, video seconds, searches, code containers."),
      cost_usd: usd.describe("Charged cost."),
      simulated_usd: usd,
      lines: z.array(z.object({ class: z.string(), units: z.number(), unit_usd: z.number(), usd })),
      notes: z.array(z.string()).describe("Limitations of the simulation."),
      remarks: z.array(remarkSchema("simulation")).describe("The notes by code, in the same order."),
    }),
  }),
} as const;
