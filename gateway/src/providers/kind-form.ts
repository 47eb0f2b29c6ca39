import type { Provider } from "#core/index.ts";
import { forwardHeadersProblem } from "./caller-headers.ts";
import type { ProviderKind } from "./kind.ts";
import { networkFields, networkProblem } from "./network-settings.ts";
import { passThroughProblem } from "./pass-through/pass-through-setting.ts";
import { reasoningProblem } from "./reasoning/reasoning-rule.ts";
import { type KindForm, type SettingField, settingField } from "./setting-field.ts";

interface CommonSetting {
  readonly field: SettingField;
  /** Which kinds have it. Absent: all. */
  readonly of?: (kind: ProviderKind) => boolean;
  /** What is wrong with it beyond its type, in one sentence that names it. */
  readonly problem?: (provider: Provider) => string | null;
}

const servesModels = ({ lanes }: ProviderKind): boolean => lanes.length > 0;

const commonSettings: readonly CommonSetting[] = [
  {
    of: servesModels,
    field: settingField("forward_headers", "Forwarded headers", {
      type: "list",
      help: "Headers of callers that this account gets beside the usual ones, such as x-router-trace or x-router-*.",
      placeholder: "x-router-trace",
    }),
    problem: forwardHeadersProblem,
  },
  {
    of: servesModels,
    field: settingField("objects", "Shared objects", {
      type: "list",
      help: "Files, stores, prompts, conversations and caches of the account that every workspace may name: ids, or beginnings with a *. Where one workspace alone can reach the account, it may name all.",
      placeholder: "file-abc123",
    }),
  },
  {
    of: servesModels,
    field: settingField("fetches_urls", "Upstream fetches URLs", {
      type: "boolean",
      help: "No: pictures are fetched here and sent along. Yes, for an upstream in a private network: it can reach nothing that callers must not. Default: no in a private network, else yes.",
    }),
  },
  {
    of: servesModels,
    field: settingField("reasoning", "Model reasoning", {
      type: "json",
      help: 'By names of models or beginnings with a *: {"glm-*": {"switch": "thinking", "efforts": ["high", "max"]}}. Also always, never and wants_thoughts. Only where it differs from what is known.',
    }),
    problem: reasoningProblem,
  },
  {
    of: ({ lanes }) => lanes.some(({ dialect }) => dialect === "anthropic-messages"),
    field: settingField("cache_marks", "Add cache marks", {
      type: "boolean",
      help: "Yes: translated calls to the Messages API are marked for the prompt cache even if the caller does not ask for it. Writing a cache costs more than plain input. Default: no.",
    }),
  },
  {
    field: settingField("pass_members", "Forwarded fields", {
      type: "list",
      help: "Fields of requests that choose a model, a route, a tier or a size past the gateway's prices and grants, and are kept back unless they are named here.",
      placeholder: "service_tier",
    }),
  },
  {
    field: settingField("pass_through", "Pass-through", {
      type: "json",
      help: '{"price_per_call": 0.001, "deny": ["fine_tuning"]}: what a call below /v1/providers/… costs, in USD, that no model has a price for (without it such a call is refused where a budget holds), and beginnings of paths that are refused beside those that administer the account.',
    }),
    problem: passThroughProblem,
  },
  {
    field: settingField("cost_source", "Cost", {
      type: "select",
      options: ["price", "vendor"],
      help: "Where an answer says what it cost: vendor books that, price books usage times price. Both are recorded. Default: vendor for OpenRouter and xAI, else price.",
    }),
  },
];

/** What a kind says of its form, completed: a key is needed, and lanes can be chosen where there are several. */
export function kindForm(kind: ProviderKind): KindForm {
  const { fields = [], baseUrlHelp = null, apiKey = "required", apiKeyHelp = null } = kind;
  const options = [...new Set(kind.lanes.map((lane) => lane.endpoint))];
  const endpoints = settingField("endpoints", "Endpoints", {
    type: "list",
    options,
    help: "Only these are used. Leave it empty for the usual ones.",
  });
  const common = commonSettings.filter(({ of }) => of?.(kind) ?? true).map(({ field }) => field);
  return {
    baseUrlHelp,
    apiKey,
    apiKeyHelp,
    fields: [...fields, ...(options.length > 1 ? [endpoints] : []), ...common, ...networkFields],
  };
}

/** What is wrong with an account's settings, in one sentence that names the setting; null when nothing is. */
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
  return networkProblem(provider) ?? kind.checkSettings?.(provider) ?? null;
}

/** Something wrong with one setting, in words that go after its name. */
interface SettingProblem {
  readonly name: string;
  /** `unknown`: the kind has no such setting. */
  readonly what: "unknown" | "type";
  readonly problem: string;
}

/**
 * Settings that a kind does not have, and values of another type than it reads. What is empty counts as not there, as it does
 * where settings are read.
 */
export function wrongSettings(
  kind: ProviderKind,
  settings: Readonly<Record<string, unknown>>,
): readonly SettingProblem[] {
  const { fields } = kindForm(kind);
  return Object.entries(settings).flatMap(([name, value]): SettingProblem[] => {
    const field = fields.find((each) => each.name === name);
    if (field === undefined) {
      return [{ name, what: "unknown", problem: `the kind ${kind.id} has no setting \`${name.slice(0, nameMax)}\`` }];
    }
    const problem = isEmpty(value) ? null : settingTypeProblem(field, value);
    return problem === null ? [] : [{ name, what: "type", problem }];
  });
}

export function settingTypeProblem(field: SettingField, value: unknown): string | null {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false";
    case "number":
      return typeof value === "number" ? null : "must be a number";
    case "list":
      return isListOf(null, value) ? null : "must be a list of texts, none of them empty";
    case "select":
      return isListOf(field.options, [value]) ? null : `must be one of: ${field.options?.join(", ")}`;
    case "json":
      return null;
    default:
      return typeof value === "string" && value.length <= settingCharactersMax ? null : "must be a text";
  }
}

function listProblem({ type, options }: SettingField, value: unknown): string | null {
  if (type !== "list" || isListOf(options, value)) return null;
  return `must be a list out of: ${options?.join(", ")}`;
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
