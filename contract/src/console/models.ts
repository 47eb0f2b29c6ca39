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
import { at, count, id, managedBy, nothing, pageOf, usd } from "./words.ts";

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
    .describe(
      "Those of `endpoints` where the deployments that are tried first take a call as it is; elsewhere it is translated.",
    ),
  fallbacks: z.array(z.string()),
  max_output_tokens: z
    .int()
    .nullable()
    .describe("Held against budgets for calls without a limit of their own; null: 8192."),
  price: priceSchema.nullable().describe("In the units of the config file; null: unpriced, its calls cost 0."),
  price_version: z.string().nullable(),
  price_origin: z
    .enum(["catalogue", "set"])
    .nullable()
    .describe("`catalogue`: taken from there; `set`: by somebody, and never changed by a catalogue. null: no price."),
  context_window: count
    .nullable()
    .describe("Tokens: as it was set, else as the catalogue knows it of the first deployment's model."),
  next_price: z
    .object({ from: at, price: priceSchema, origin: z.enum(["catalogue", "set"]) })
    .nullable()
    .describe("A price that comes into force by itself at `from`."),
  price_guessed: z.boolean().describe("The price was taken from a catalogue entry for a similar name. Check it."),
  context_window_origin: z.enum(["catalogue", "set"]).nullable().describe("null: no context window is known."),
  deprecated: z
    .boolean()
    .describe("The vendor will take its first deployment's model away, or has, as far as that is known here."),
  retires_at: at.nullable().describe("On which day; null: that is not known."),
  unpriced: z
    .enum(["allow", "block"])
    .nullable()
    .describe("What it says itself of calls while it has no price. null: as the settings say."),
  calls: z
    .enum(["priced", "free", "borrowed_price", "blocked", "blocked_in_budgets"])
    .describe(
      "What becomes of calls: charged, served at zero, served at zero unless a budget would count them, charged at the price that `settings.unpriced` names, or refused with `model_not_priced`.",
    ),
  unpriced_usage: z
    .array(z.string())
    .describe(
      "Classes of usage of the last seven days that its price leaves out: nothing is charged for them, or less than the catalogue says. Empty where the vendor's own figure is charged.",
    )
    .meta({ needs: "administrator" }),
  deployments: z.array(consoleDeploymentSchema).meta({ needs: "administrator" }),
  last_week: z.object({ requests: count, cost_usd: usd }).meta({ needs: "administrator" }),
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleModel = z.infer<typeof consoleModelSchema>;

export const priceVersionSchema = z.object({
  id,
  effective_from: at,
  price: priceSchema,
  current: z.boolean(),
  origin: z.enum(["catalogue", "set"]),
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
  context_window: contextWindow.nullable().optional().describe("null: as the catalogue knows it."),
  fallbacks: z.array(z.string().min(1).max(256)).max(10).optional(),
  unpriced: unpricedOfModel.nullable().optional().describe("While it has no price; null: as the settings say."),
  price: priceSchema
    .nullable()
    .optional()
    .describe("From now on. A price that was to begin later is forgotten with it."),
  next_price: z
    .strictObject({ from: at.describe("Unix milliseconds, in the future."), price: priceSchema })
    .nullable()
    .optional()
    .describe("A price that begins later; null takes it away."),
  deployments: z.array(deploymentBody).min(1).max(100).describe("The whole list; what is not in it goes."),
};

/** Names may hold slashes; in a path they are percent-encoded. */
export const modelRoutes = {
  "models.list": route({
    method: "GET",
    path: "/api/models",
    summary: "All models; how they are served is for administrators",
    needs: "viewer",
    query: z.object({ search: z.string().max(256).optional() }),
    answer: pageOf(consoleModelSchema),
  }),
  "models.create": route({
    method: "POST",
    path: "/api/models",
    summary: "Add a model",
    needs: "administrator",
    body: z.strictObject({ name: modelSchema.shape.name, ...modelFields }),
    answer: consoleModelSchema,
    status: 201,
  }),
  "models.show": route({
    method: "GET",
    path: "/api/models/{model}",
    summary: "One model",
    needs: "viewer",
    answer: consoleModelSchema,
  }),
  "models.update": route({
    method: "PATCH",
    path: "/api/models/{model}",
    summary: "Change a model. A changed price is a new version; what was paid stays paid",
    needs: "administrator",
    body: z.strictObject(modelFields).partial(),
    answer: consoleModelSchema,
  }),
  "models.remove": route({
    method: "DELETE",
    path: "/api/models/{model}",
    summary: "Remove a model; its ledger entries and prices stay",
    needs: "administrator",
    fresh: true,
    answer: nothing,
  }),
  "models.prices": route({
    method: "GET",
    path: "/api/models/{model}/prices",
    summary: "Every price a model had, newest first",
    needs: "administrator",
    answer: pageOf(priceVersionSchema),
  }),
  "models.simulate": route({
    method: "POST",
    path: "/api/models/{model}/simulate",
    summary: "What the usage of a time would have cost at another price",
    needs: "administrator",
    body: z.strictObject({ price: priceSchema, from: at, to: at }),
    answer: z.object({
      from: at,
      to: at,
      requests: count,
      usage: z
        .record(z.string(), z.number())
        .describe("Tokens by class, images, video seconds, searches, places to run code."),
      cost_usd: usd.describe("What was charged."),
      simulated_usd: usd,
      lines: z.array(z.object({ class: z.string(), units: z.number(), unit_usd: z.number(), usd })),
      notes: z.array(z.string()).describe("What the figure leaves out."),
      remarks: z.array(remarkSchema("simulation")).describe("The notes by code, in the same order."),
    }),
  }),
} as const;
