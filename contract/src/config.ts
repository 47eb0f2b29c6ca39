import { z } from "zod";
import { billingKinds } from "./bill-classes.ts";
import { logoFault } from "./brand.ts";
import { budgetPolicySchema } from "./budget-policies.ts";
import { budgetPoliciesMax } from "./budget-windows.ts";
import { budgetSchema, enforceAllowedIpsSchema, enforceModelsSchema, limitsSchema, usd } from "./config-limits.ts";
import { oidcSchema, tokenSchema, userSchema } from "./config-people.ts";
import { guardrailSchema, workspaceGuardrailSchema } from "./guardrail-fields.ts";
import { guardrailBounds } from "./guardrail-table.ts";
import { modelTypeSchema } from "./model-type.ts";
import {
  bucketPattern,
  linePattern,
  lineRule,
  modelNamePattern,
  modelNameRule,
  nameLengthMax,
  objectPrefixLengthMax,
  objectPrefixPattern,
  objectPrefixRule,
  regionPattern,
  slugPattern,
  slugRule,
} from "./names.ts";
import {
  type NestedSettings,
  nestedSettings,
  type SettingValues,
  settingHelp,
  settingsTable,
} from "./settings-table.ts";
import { longContextFields, priceFields } from "./usage-classes.ts";

/**
 * The schema of the config file. `${NAME}` is replaced from the environment before the file is checked against it.
 * Amounts are USD, times are milliseconds; the unit of each price is in `usage-classes.ts`.
 */
const name = z.string().min(1).max(nameLengthMax).regex(linePattern, lineRule);
const tag = z.string().max(128).regex(linePattern, lineRule);
export const tagsSchema = z.record(tag, tag);
const slug = z.string().regex(slugPattern, slugRule);
const patterns = z.array(z.string().min(1).max(256)).max(1_000);
const providerId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "letters, digits, dot, dash, underscore; at most 63");

/** Ids only, no patterns. */
export const passThroughSchema = z.array(providerId).max(100);
const passThrough = passThroughSchema
  .optional()
  .describe(
    "Ids of providers that may be called directly, with their own API, below /v1/providers/{id}/. Workspace, group and key must each list the provider. Default: none.",
  );
const timeoutMs = z.int().min(1).max(86_400_000);

export const timeoutsSchema = z.strictObject({
  connect_ms: timeoutMs.optional(),
  headers_ms: timeoutMs.optional(),
  first_event_ms: timeoutMs.optional(),
  idle_ms: timeoutMs.optional(),
  total_ms: timeoutMs.optional(),
});

export const disconnectSchema = z.enum(["cancel", "drain"]);

const accountIds = z.array(z.string().min(1).max(256)).max(100).optional();

export const billingSchema = z.strictObject({
  kind: z
    .enum(billingKinds)
    .describe(
      "Where the bills come from: the vendor's API (openai, anthropic, openrouter), or files (cur: AWS CUR 2.0; gcp: Google's billing export; focus; csv).",
    ),
  admin_key: z
    .string()
    .min(1)
    .max(8_192)
    .optional()
    .describe(
      "A key of the vendor that may read usage and costs, and nothing else if the vendor allows that; or a secret reference, such as vault://kv/ai/openai#admin_key.",
    ),
  base_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Default: the vendor's own address."),
  account: z
    .strictObject({ projects: accountIds, workspaces: accountIds, api_key_ids: accountIds })
    .optional()
    .describe("The part of the vendor's account that only this gateway uses. Default: the whole account."),
  tolerance_percent: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .describe("Differences up to this share are ignored. Default: 0.5."),
  lag_days: z.int().min(1).max(30).optional().describe("Days until a bill of the vendor is complete. Default: 2."),
});
export type BillingConfig = z.infer<typeof billingSchema>;

export const providerSchema = z.strictObject({
  id: providerId,
  kind: z
    .string()
    .min(1)
    .max(64)
    .describe(
      "The provider type: openai, anthropic, gemini, azure-openai, bedrock, vertex, ark, openai-compatible, demo, …",
    ),
  base_url: z
    .url({ protocol: /^(https?|demo)$/ })
    .optional()
    .describe("Default: the address of the provider type."),
  api_key: z.string().min(1).max(8_192).optional(),
  allow_private_network: z
    .boolean()
    .optional()
    .describe("Allow base_url to be a private or loopback address. Other private addresses stay blocked."),
  timeouts: timeoutsSchema.optional(),
  disconnect: disconnectSchema
    .optional()
    .describe("Action when the caller disconnects: cancel the upstream request, or read it to the end (drain)."),
  enabled: z.boolean().optional(),
  settings: z.record(z.string(), z.unknown()).optional().describe("Settings of the provider type."),
  billing: billingSchema
    .optional()
    .describe("Where the provider's bills come from. They are compared with the ledger every day."),
});

const resolution = z.string().regex(/^\d+[pPkK]$/, "a resolution such as 720p or 2k");

/** A service tier, region or speed as reported in responses, in lower case. */
const servedWord = z.string().regex(/^[a-z0-9_.-]{1,32}$/, "a name such as flex, priority, us or fast");

export const priceSchema = z.strictObject({
  ...priceFields(usd),
  long_context: z
    .strictObject({
      above: z.int().min(1).max(1_000_000_000).describe("Input tokens, including cached ones."),
      ...longContextFields(usd),
    })
    .optional()
    .describe("Prices of the whole request if its input is larger. Classes that are left out keep their price."),
  variants: z
    .array(
      z.strictObject({
        resolution: resolution.optional(),
        audio: z.boolean().optional(),
        tier: servedWord.optional().describe("Service tier in the response: flex, priority, batch …"),
        geo: servedWord.optional().describe("Region in the response: us …"),
        speed: servedWord.optional().describe("Speed in the response: fast …"),
        multiplier: z
          .number()
          .min(0)
          .max(100)
          .optional()
          .describe(
            "Factor for the base prices except fees, with at most three decimals. Classes with their own price here are not multiplied.",
          ),
        ...priceFields(usd),
      }),
    )
    .max(64)
    .optional()
    .describe(
      "Prices for some calls: videos by resolution and audio, responses by service tier, region and speed. The most specific variant with its own prices applies, together with the multipliers of the others.",
    ),
});

/** Parameters that a deployment's model accepts. They override the defaults of the provider type. */
export const capabilitiesSchema = z.strictObject({
  ratios: z
    .array(z.string().regex(/^(\d+:\d+|[a-z_]+)$/))
    .max(64)
    .optional(),
  resolutions: z.array(resolution).max(16).optional(),
  durations: z.array(z.int().min(-1).max(3_600)).max(64).optional().describe("Whole seconds."),
  duration_min: z.int().min(1).optional(),
  duration_max: z.int().max(3_600).optional(),
  audio: z.boolean().optional(),
  first_frame: z.boolean().optional(),
  last_frame: z.boolean().optional(),
  references_max: z.int().min(0).max(100).optional(),
  seed: z.boolean().optional(),
});

export const deploymentSchema = z.strictObject({
  provider: name,
  upstream_model: name.optional().describe("Name of the model at the upstream. Default: the model's own name."),
  priority: z.int().min(0).max(1_000).optional().describe("Lower values are tried first. Default: 1."),
  weight: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe(
      "Share among deployments of equal priority. Default: 100. With 0 it is used only if no other is available.",
    ),
  enabled: z.boolean().optional(),
  capabilities: capabilitiesSchema
    .optional()
    .describe("For video models: accepted parameters. They override the defaults of the provider type."),
});

/** Policy for calls to a model without a price, which budgets cannot count. */
export const unpricedOfModel = z.enum(["allow", "block"]);
export const unpricedSchema = z.union([
  z.enum(["block_in_budgets", ...unpricedOfModel.options]),
  z.strictObject({ price_as: name.describe("A model of the same type. Its price is charged.") }),
]);

export const maxOutputTokens = z.int().min(1).max(100_000_000);

export const contextWindow = z.int().min(1).max(1_000_000_000);

export const modelSchema = z.strictObject({
  name: z.string().regex(modelNamePattern, modelNameRule),
  type: modelTypeSchema.optional(),
  owned_by: name.optional(),
  deployments: z.array(deploymentSchema).min(1).max(100),
  price: priceSchema.optional(),
  next_price: z
    .strictObject({
      from: z
        .union([z.iso.date(), z.iso.datetime({ offset: true })], {
          error: "must be a date, or a time with a time zone, such as 2030-01-31 or 2030-01-31T00:00:00Z",
        })
        .describe("A date (0:00 UTC) or a time: `2027-01-01`, `2027-01-01T09:00:00+01:00`."),
      price: priceSchema,
    })
    .optional()
    .describe("A price that replaces `price` at `from`."),
  max_output_tokens: maxOutputTokens
    .optional()
    .describe("Output tokens to reserve in budgets during a call that sets no maximum. Default: 8192."),
  context_window: contextWindow.optional().describe("Input and output tokens together. Default: from the price list."),
  fallbacks: z.array(name).max(10).optional(),
  unpriced: unpricedOfModel
    .optional()
    .describe(
      "Calls while the model has no price: `allow` serves them at zero, `block` refuses them. Default: as in the settings.",
    ),
});

export const groupSchema = z.strictObject({
  name: slug,
  models: patterns.optional().describe('Names or patterns with *. Default: ["*"].'),
  enforce_models: enforceModelsSchema,
  pass_through: passThrough,
  limits: limitsSchema.optional(),
  budget: budgetSchema.optional(),
});

export const keySchema = z.strictObject({
  name,
  group: slug.optional().describe("Default: `default`."),
  secret: z.string().min(24).max(256).optional().describe("Left out: create a secret with `sluice key create`."),
  models: patterns.optional(),
  enforce_models: enforceModelsSchema,
  pass_through: passThrough,
  allowed_ips: z.array(z.string().min(1)).max(1_000).optional().describe("Addresses or CIDR ranges."),
  enforce_allowed_ips: enforceAllowedIpsSchema,
  expires_at: z.iso.datetime({ offset: true }).optional(),
  service: z.boolean().optional().describe("A service token for CI and other programs. It must have `expires_at`."),
  enabled: z.boolean().optional(),
  limits: limitsSchema.optional(),
  budget: budgetSchema.optional(),
  tags: tagsSchema.optional(),
  capture: z
    .enum(["none", "headers", "bodies"])
    .optional()
    .describe("Parts of the key's requests to store for a limited time. Default: none."),
});

export const workspaceSchema = z.strictObject({
  slug,
  name: name.optional(),
  models: patterns.optional(),
  enforce_models: enforceModelsSchema,
  pass_through: passThrough,
  enabled: z.boolean().optional(),
  limits: limitsSchema.optional(),
  budget: budgetSchema.optional(),
  groups: z.array(groupSchema).max(1_000).optional(),
  keys: z.array(keySchema).max(100_000).optional(),
  guardrails: z
    .array(workspaceGuardrailSchema)
    .max(guardrailBounds.perCallMax)
    .optional()
    .describe("Checks of the workspace's requests and answers, in addition to the installation's."),
  budgets: z
    .array(budgetPolicySchema)
    .max(budgetPoliciesMax)
    .optional()
    .describe("Budgets for some of the workspace's calls, in addition to the installation's."),
});

const exportFormat = z.enum(["jsonl", "focus"]);

/** The bucket that the ledger is exported to. */
export const ledgerExportSchema = z.strictObject({
  bucket: z.string().regex(bucketPattern, "a bucket name"),
  prefix: z
    .string()
    .max(objectPrefixLengthMax)
    .regex(objectPrefixPattern, objectPrefixRule)
    .optional()
    .describe("Prefix of every object name, such as `sluice/`."),
  region: z.string().regex(regionPattern, "a region such as eu-central-1").optional().describe("Default: us-east-1."),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .optional()
    .describe("Address of a store other than Amazon S3. It may be private."),
  format: z
    .union([exportFormat, z.array(exportFormat).min(1).max(2)])
    .optional()
    .describe("`jsonl`: entries by hour. `focus`: FOCUS rows by day. Or a list of both. Default: jsonl."),
});

const ownSettings = { "ledger.export": ledgerExportSchema, unpriced: unpricedSchema };

/** In a change, null removes a setting that has no default. */
function settingsObject(isChange: boolean): z.ZodType {
  const fields = settingsTable.map((row): [string, z.ZodType] => {
    const help = settingHelp(row).replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
    const schema = settingSchema(row);
    if (row.default !== null) {
      const asJson = typeof row.default === "string" ? row.default : JSON.stringify(row.default);
      return [row.path, schema.optional().describe(`${help} Default: ${asJson}.`)];
    }
    if (!isChange) return [row.path, schema.optional().describe(help)];
    return [row.path, schema.nullable().optional().describe("Replaced as a whole. null removes it.")];
  });
  const shape = Object.entries(nestedSettings(fields)).map(([field, value]) => {
    return [field, value instanceof z.ZodType ? value : z.strictObject(value as z.ZodRawShape).optional()];
  });
  return z.strictObject(Object.fromEntries(shape));
}

function settingSchema({ path, kind }: (typeof settingsTable)[number]): z.ZodType {
  if (kind.type === "integer") return z.int().min(kind.min).max(kind.max);
  if (kind.type === "boolean") return z.boolean();
  if (kind.type === "text") {
    const text = z.string().max(kind.max);
    return "lines" in kind ? text : text.regex(linePattern, lineRule);
  }
  if (kind.type === "color")
    return z.string().regex(/^(?:#[0-9a-fA-F]{6})?$/, "must be a color such as #0b7285, or empty");
  if (kind.type === "logo") {
    return z.string().superRefine((text, context) => {
      const fault = text === "" ? null : logoFault(text);
      if (fault !== null) context.addIssue({ code: "custom", message: fault });
    });
  }
  return kind.type === "choice" ? z.enum(kind.of) : ownSettings[path as keyof typeof ownSettings];
}

export type Settings = SettingValues<{ "ledger.export": LedgerExportConfig; unpriced: UnpricedPolicy }>;
type DefinedSettings = { readonly [Path in keyof Settings]: Exclude<Settings[Path], null> };
export type SettingsConfig = NestedSettings<DefinedSettings>;
export type SettingsChange = NestedSettings<Settings>;

export const settingsSchema = settingsObject(false) as z.ZodType<SettingsConfig, SettingsConfig>;
export const settingsChangeSchema = settingsObject(true) as z.ZodType<SettingsChange, SettingsChange>;

export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  providers: z.array(providerSchema).max(10_000).optional(),
  models: z.array(modelSchema).max(100_000).optional(),
  workspaces: z.array(workspaceSchema).max(100_000).optional(),
  users: z
    .array(userSchema)
    .max(10_000)
    .optional()
    .describe("Users of the console. Users removed from the file are disabled."),
  tokens: z
    .array(tokenSchema)
    .max(10_000)
    .optional()
    .describe("Admin tokens for scripts. A token removed from the file does not work until it is declared again."),
  oidc: z.array(oidcSchema).max(100).optional().describe("Single sign-on accounts."),
  guardrails: z
    .array(guardrailSchema)
    .max(guardrailBounds.perCallMax)
    .optional()
    .describe("Checks of requests and answers that no workspace can remove."),
  budgets: z
    .array(budgetPolicySchema)
    .max(budgetPoliciesMax)
    .optional()
    .describe("Budgets by tag, model, provider or caller, also across workspaces."),
  settings: settingsSchema.optional(),
});

export type ConfigFile = z.infer<typeof configSchema>;
export type ProviderConfig = z.infer<typeof providerSchema>;
export type ModelConfig = z.infer<typeof modelSchema>;
export type CapabilitiesConfig = z.infer<typeof capabilitiesSchema>;
export type DeploymentConfig = z.infer<typeof deploymentSchema>;
export type PriceConfig = z.infer<typeof priceSchema>;
export type WorkspaceConfig = z.infer<typeof workspaceSchema>;
export type GroupConfig = z.infer<typeof groupSchema>;
export type KeyConfig = z.infer<typeof keySchema>;
export type UnpricedPolicy = z.infer<typeof unpricedSchema>;
export type LedgerExportConfig = z.infer<typeof ledgerExportSchema>;
