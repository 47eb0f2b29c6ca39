import { type Provider, webhookKey } from "#core/index.ts";
import { isReference, referenceFormProblem } from "#credentials/index.ts";
import { forwardHeadersProblem } from "./caller-headers.ts";
import type { ProviderKind } from "./kind.ts";
import { networkFields, networkProblem } from "./network-settings.ts";
import { objectPricesProblem } from "./object-prices.ts";
import { passThroughProblem } from "./pass-through/pass-through-setting.ts";
import { reasoningProblem } from "./reasoning/reasoning-rule.ts";
import { type KindForm, type SettingField, settingField } from "./setting-field.ts";

interface CommonSetting {
  readonly field: SettingField;
  /** Absent: all provider types have it. */
  readonly of?: (kind: ProviderKind) => boolean;
  /** A problem beyond its type, as a sentence with the setting's name. */
  readonly problem?: (provider: Provider) => string | null;
}

const servesModels = ({ lanes }: ProviderKind): boolean => lanes.length > 0;

const commonSettings: readonly CommonSetting[] = [
  {
    of: servesModels,
    field: settingField("forward_headers", "Forwarded headers", {
      type: "list",
      help: "Additional caller headers to forward, such as x-router-trace or x-router-*.",
      placeholder: "x-router-trace",
    }),
    problem: forwardHeadersProblem,
  },
  {
    of: servesModels,
    field: settingField("objects", "Shared objects", {
      type: "list",
      help: "Files, stores, prompts, conversations and caches of the account that every workspace may use: ids, or prefixes with a *. If only one workspace can reach the account, it may use all of them.",
      placeholder: "file-abc123",
    }),
  },
  {
    of: servesModels,
    field: settingField("fetches_urls", "Upstream fetches URLs", {
      type: "boolean",
      help: "No: the gateway downloads images and sends them. Yes, for an upstream in a private network: it cannot reach internal services. Default: no in a private network, otherwise yes.",
    }),
  },
  {
    of: servesModels,
    field: settingField("reasoning", "Model reasoning", {
      type: "json",
      help: 'By model names or prefixes with a *: {"glm-*": {"switch": "thinking", "efforts": ["high", "max"]}}. Also always, never and wants_thoughts. Overrides the built-in rules.',
    }),
    problem: reasoningProblem,
  },
  {
    of: ({ lanes }) => lanes.some(({ dialect }) => dialect === "anthropic-messages"),
    field: settingField("cache_marks", "Add cache marks", {
      type: "boolean",
      help: "Yes: translated calls to the Messages API use the prompt cache even if the caller does not request it. Cache writes cost more than input. Default: no.",
    }),
  },
  {
    of: ({ batches }) => batches !== undefined,
    field: settingField("batches", "Use the vendor's batches", {
      type: "boolean",
      help: "Yes: batches of this account's models are sent to the vendor as a batch, at its batch price, and take up to a day. No: the gateway runs their rows itself, at the normal price. Default: no.",
    }),
  },
  {
    of: ({ batches }) => batches?.readHint !== undefined,
    field: settingField("webhook_secret", "Webhook secret", {
      type: "secret",
      help: "Optional: of a webhook that you create at the vendor for its batch events, with the address <gateway>/v1/batch-callbacks/<id of this provider>. An event makes the gateway poll that batch at once.",
      placeholder: "whsec_…",
    }),
    problem: webhookSecretProblem,
  },
  {
    field: settingField("pass_members", "Forwarded fields", {
      type: "list",
      help: "Request fields to allow although they can select a model, route, tier or size outside the gateway's prices and grants.",
      placeholder: "service_tier",
    }),
  },
  {
    field: settingField("pass_through", "Pass-through", {
      type: "json",
      help: '{"price_per_call": 0.001, "deny": ["fine_tuning"]}: the USD price of a call below /v1/providers/… without a model price (such calls are refused under a budget if it is not set), and path prefixes to deny in addition to the administrative ones.',
    }),
    problem: passThroughProblem,
  },
  {
    of: ({ id }) => id === "openai",
    field: settingField("object_prices", "Prices of stored objects", {
      type: "json",
      help: '{"container_1g": 0.0015, "vector_store": 0.1, "vector_store_search": 0.0025, "vector_store_gb_day": 0.1}: USD per minute of a container by its memory, per call that creates a vector store or adds files to it, per search, and per stored gigabyte and day. Default: OpenAI\'s prices; no price of such calls, so that they are refused under a budget.',
    }),
    problem: objectPricesProblem,
  },
  {
    field: settingField("cost_source", "Cost", {
      type: "select",
      options: ["price", "vendor"],
      help: "For answers with a cost: vendor charges that cost, price charges usage times price. Both are recorded. Default: vendor for OpenRouter and xAI, otherwise price.",
    }),
  },
];

/** The form of a provider type with the settings that all types share. */
export function kindForm(kind: ProviderKind): KindForm {
  const { fields = [], baseUrlHelp = null, apiKey = "required", apiKeyHelp = null } = kind;
  const options = [...new Set(kind.lanes.map((lane) => lane.endpoint))];
  const endpoints = settingField("endpoints", "Endpoints", {
    type: "list",
    options,
    help: "Only these are used. Leave empty for the defaults.",
  });
  const common = commonSettings.filter(({ of }) => of?.(kind) ?? true).map(({ field }) => field);
  return {
    baseUrlHelp,
    apiKey,
    apiKeyHelp,
    fields: [...fields, ...(options.length > 1 ? [endpoints] : []), ...common, ...networkFields],
  };
}

function webhookSecretProblem({ settings }: Provider): string | null {
  const secret = settings["webhook_secret"];
  if (typeof secret !== "string" || secret === "" || isReference(secret) || webhookKey(secret) !== null) return null;
  return "settings.webhook_secret must be the webhook's signing secret: whsec_ and at least 24 bytes in base64";
}

/** A problem with an account's settings, as a sentence with the setting's name; null if there is none. */
export function settingsProblem(kind: ProviderKind, provider: Provider): string | null {
  for (const field of kindForm(kind).fields) {
    const value = provider.settings[field.name];
    const problem = isEmpty(value) ? null : (settingTypeProblem(field, value) ?? listProblem(field, value));
    if (problem !== null) return `settings.${field.name} ${problem}`;
  }
  for (const { of, problem } of commonSettings) {
    const found = (of?.(kind) ?? true) ? (problem?.(provider) ?? null) : null;
    if (found !== null) return found;
  }
  return referenceProblem(kind, provider) ?? networkProblem(provider) ?? kind.checkSettings?.(provider) ?? null;
}

function referenceProblem(kind: ProviderKind, { secret, settings }: Provider): string | null {
  const fields = kindForm(kind).fields.filter(({ type }) => type === "secret");
  const key = referenceFormProblem(secret?.reveal().trim());
  if (key !== null) return `api_key ${key}`;
  for (const { name } of fields) {
    const problem = referenceFormProblem(settings[name]);
    if (problem !== null) return `settings.${name} ${problem}`;
  }
  return null;
}

/** The text of `problem` follows the setting's name. */
interface SettingProblem {
  readonly name: string;
  readonly what: "unknown" | "type";
  readonly problem: string;
}

/** Unknown settings, and values of the wrong type. Empty values count as absent. */
export function wrongSettings(
  kind: ProviderKind,
  settings: Readonly<Record<string, unknown>>,
): readonly SettingProblem[] {
  const { fields } = kindForm(kind);
  return Object.entries(settings).flatMap(([name, value]): SettingProblem[] => {
    const field = fields.find((each) => each.name === name);
    if (field === undefined) {
      return [
        { name, what: "unknown", problem: `the provider type ${kind.id} has no setting \`${name.slice(0, nameMax)}\`` },
      ];
    }
    const problem = isEmpty(value) ? null : settingTypeProblem(field, value);
    return problem === null ? [] : [{ name, what: "type", problem }];
  });
}

function settingTypeProblem(field: SettingField, value: unknown): string | null {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false";
    case "list":
      return isListOf(null, value) ? null : "must be a list of non-empty texts";
    case "select":
      return isListOf(field.options, [value]) ? null : `must be one of: ${field.options?.join(", ")}`;
    case "json":
      return null;
    default:
      return typeof value === "string" && value.length <= settingCharactersMax ? null : "must be a string";
  }
}

function listProblem({ type, options }: SettingField, value: unknown): string | null {
  if (type !== "list" || isListOf(options, value)) return null;
  return `must be a list of: ${options?.join(", ")}`;
}

function isListOf(options: readonly string[] | null, value: unknown): boolean {
  const isOne = (each: unknown) => typeof each === "string" && each !== "" && (options?.includes(each) ?? true);
  return Array.isArray(value) && value.every(isOne);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

const settingCharactersMax = 8_192;
const nameMax = 64;
