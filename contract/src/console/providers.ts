import { z } from "zod";
import {
  billingSchema,
  disconnectSchema,
  maxOutputTokens,
  modelSchema,
  priceSchema,
  providerSchema,
  timeoutsSchema,
} from "../config.ts";
import { modelTypeSchema } from "../model-type.ts";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { at, count, id, managedBy, ms, nothing, pageOf } from "./words.ts";

/** A form field for a setting of a provider type. */
export const kindFieldSchema = z.object({
  name: z.string().describe("Key in `settings`."),
  label: z.string(),
  type: z.enum(["text", "secret", "number", "boolean", "select", "list", "json"]),
  required: z.boolean(),
  help: z.string().nullable(),
  placeholder: z.string().nullable(),
  options: z.array(z.string()).nullable().describe("Choices of a `select` or `list` field."),
  auths: z.array(z.string()).nullable().describe("Only for these choices of the field `auth`; null: for all."),
});

export const providerKindSchema = z.object({
  kind: z.string(),
  title: z.string(),
  base_url: z.string().nullable().describe("null: required."),
  base_url_help: z.string().nullable(),
  api_key: z.enum(["required", "optional", "none"]),
  api_key_help: z.string().nullable(),
  dialects: z.array(z.string()),
  types: z.array(modelTypeSchema),
  lists_models: z.boolean(),
  fields: z.array(kindFieldSchema),
});
export type ProviderKindForm = z.infer<typeof providerKindSchema>;

/**
 * `unknown`: no recent calls. `healthy`: recent calls succeeded. `unhealthy`: its breaker is half-open, it is cooling down, or some
 * of its deployments are down. `down`: its breaker is open.
 */
export const healthSchema = z.object({
  state: z
    .enum(["unknown", "healthy", "degraded", "unhealthy", "down"])
    .describe("`degraded`: at least one in twenty attempts of the last hour failed."),
  breaker: z.enum(["closed", "open", "half-open"]).nullable(),
  cooling_ms: ms,
  in_flight: count,
  latency_ms: ms.nullable().describe("Mean of recent successful calls."),
  last_hour: z.object({ attempts: count, failed: count }).nullable(),
});
export type Health = z.infer<typeof healthSchema>;

const billingViewSchema = z.object({
  ...billingSchema.omit({ admin_key: true }).shape,
  base_url: z.string().nullable().describe("null: the vendor's own address."),
  account: billingSchema.shape.account.unwrap(),
  tolerance_percent: z.number().nullable(),
  lag_days: z.int().nullable(),
  has_admin_key: z.boolean(),
});
export type ProviderBilling = z.infer<typeof billingViewSchema>;

export const consoleProviderSchema = z.object({
  id,
  kind: z.string(),
  base_url: z.string(),
  has_api_key: z.boolean(),
  allow_private_network: z.boolean(),
  timeouts: timeoutsSchema,
  disconnect: disconnectSchema.nullable(),
  enabled: z.boolean(),
  settings: z.record(z.string(), z.unknown()).describe("Secrets are shown as `[redacted]`. Send that to keep them."),
  billing: billingViewSchema.nullable().describe("Where the provider's bills come from. null: not compared."),
  deployments: count,
  health: healthSchema,
  managed_by: managedBy,
  created_at: at,
});
export type ConsoleProvider = z.infer<typeof consoleProviderSchema>;

const providerFields = providerSchema.omit({ id: true, kind: true, api_key: true }).extend({
  base_url: providerSchema.shape.base_url
    .unwrap()
    .nullable()
    .optional()
    .describe("null: the default of the provider type."),
  disconnect: disconnectSchema.nullable().optional().describe("null: as in the settings."),
  api_key: z.string().min(1).max(8_192).nullable().optional().describe("Never shown again. null removes it."),
  billing: billingSchema
    .nullable()
    .optional()
    .describe("Without `admin_key`, the stored key is kept unless `kind` or `base_url` changes. null removes it."),
});

export const testAnswerSchema = z.object({
  ok: z.boolean(),
  steps: z.array(
    z.object({
      name: z.string().describe("Name of the step: `list models`, `chat with gpt-5` …"),
      ok: z.boolean(),
      status: z.int().describe("HTTP status. 0: no response."),
      ms,
      problem: z.string().nullable(),
      advice: z.string().nullable().describe("How to fix it."),
      tried: remarkSchema("test").describe("`name` by code."),
      fault: remarkSchema("testProblem").nullable().describe("`problem` by code. null: none, or no code for it."),
      upstream_message: z.string().nullable().describe("The provider's own message."),
      remedy: remarkSchema("testAdvice").nullable().describe("`advice` by code."),
    }),
  ),
});
export type TestAnswer = z.infer<typeof testAnswerSchema>;

export const upstreamModelSchema = z.object({
  id: z.string(),
  owned_by: z.string().nullable(),
  created_at: at.nullable(),
  served_as: z.array(z.string()).describe("Models of the gateway that already use it."),
  suggested: z.object({ name: z.string(), type: modelTypeSchema }),
  price: priceSchema.nullable().describe("Price from the price list, which an imported model gets. null: unknown."),
  price_guessed: z.boolean().describe("The price is from a price list entry with a similar name. Check it."),
  context_window: count.nullable().describe("Tokens, from the provider or the price list. null: unknown."),
  max_output_tokens: count.nullable().describe("From the provider. null: unknown."),
  deprecated: z.boolean().describe("Retired or to be retired, according to the provider or the price list."),
  retires_at: at.nullable().describe("Retirement date, if the provider reports it."),
});
export type UpstreamModel = z.infer<typeof upstreamModelSchema>;

export const providerRoutes = {
  "providers.kinds": route({
    method: "GET",
    path: "/api/provider-kinds",
    summary: "List the provider types with their form fields",
    needs: "administrator",
    answer: pageOf(providerKindSchema),
  }),
  "providers.list": route({
    method: "GET",
    path: "/api/providers",
    summary: "List providers with their health",
    needs: "administrator",
    answer: pageOf(consoleProviderSchema),
  }),
  "providers.create": route({
    method: "POST",
    path: "/api/providers",
    summary: "Create a provider",
    needs: "administrator",
    body: providerFields.extend({ id: providerSchema.shape.id, kind: providerSchema.shape.kind }),
    answer: consoleProviderSchema,
    status: 201,
  }),
  "providers.show": route({
    method: "GET",
    path: "/api/providers/{provider}",
    summary: "Get a provider",
    needs: "administrator",
    answer: consoleProviderSchema,
  }),
  "providers.update": route({
    method: "PATCH",
    path: "/api/providers/{provider}",
    summary: "Update a provider. A new base URL removes the stored secrets unless they are sent again",
    needs: "administrator",
    body: providerFields.partial(),
    answer: consoleProviderSchema,
  }),
  "providers.remove": route({
    method: "DELETE",
    path: "/api/providers/{provider}",
    summary: "Delete a provider that no model uses",
    needs: "administrator",
    fresh: true,
    answer: nothing,
  }),
  "providers.test": route({
    method: "POST",
    path: "/api/providers/{provider}/test",
    summary: "Test a provider: list its models and call one of them",
    needs: "administrator",
    body: z.strictObject({ upstream_model: z.string().min(1).max(256).optional() }),
    answer: testAnswerSchema,
  }),
  "providers.upstreamModels": route({
    method: "GET",
    path: "/api/providers/{provider}/upstream-models",
    summary: "List the models of a provider's account, at most 5,000",
    needs: "administrator",
    answer: pageOf(upstreamModelSchema),
  }),
  "providers.import": route({
    method: "POST",
    path: "/api/providers/{provider}/import",
    summary: "Import a provider's models, or add it as a deployment to existing models",
    needs: "administrator",
    body: z.strictObject({
      models: z
        .array(
          z.strictObject({
            upstream_model: z.string().min(1).max(256),
            name: modelSchema.shape.name,
            type: modelTypeSchema,
            owned_by: z
              .string()
              .min(1)
              .max(256)
              .optional()
              .describe("Owner of a new model, from the provider's list. Default: the provider type."),
            max_output_tokens: maxOutputTokens.optional().describe("For a new model, from the provider's list."),
          }),
        )
        .min(1)
        .max(500),
    }),
    answer: z.object({
      created: z.array(z.string()),
      extended: z.array(z.string()),
      refused: z.array(remarkSchema("importRefusal").extend({ name: z.string(), reason: z.string() })),
    }),
  }),
} as const;
