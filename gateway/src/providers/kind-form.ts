import { forwardHeaders } from "./caller-headers.ts";
import { costSourceSetting } from "./cost-source.ts";
import { fetchesUrlsSetting } from "./fetched-urls.ts";
import { passMembers } from "./governed-members.ts";
import type { ProviderKind } from "./kind.ts";
import { cacheMarksSetting, speaksMessages } from "./lane-traits.ts";
import { networkFields } from "./network-settings.ts";
import { passThroughSetting } from "./pass-through/pass-through-setting.ts";
import { reasoningSetting } from "./reasoning/reasoning-setting.ts";
import { type KindForm, type SettingField, settingField } from "./setting-field.ts";
import { objectsSetting } from "./shared-objects.ts";

/** What a kind says of its form, completed: a key is needed, and lanes can be chosen where there are several. */
export function kindForm(kind: ProviderKind): KindForm {
  const form = kind.form ?? {};
  const endpoints = [...new Set(kind.lanes.map((lane) => lane.endpoint))];
  const fields = [...(form.fields ?? [])];
  if (endpoints.length > 1) {
    fields.push(
      settingField("endpoints", "Endpoints", {
        type: "list",
        options: endpoints,
        help: "Only these are used. Leave it empty for the usual ones.",
      }),
    );
  }
  if (kind.lanes.length > 0) {
    fields.push(
      settingField(forwardHeaders, "Forwarded headers", {
        type: "list",
        help: "Headers of callers that this account gets beside the usual ones, such as x-router-trace or x-router-*.",
        placeholder: "x-router-trace",
      }),
      settingField(objectsSetting, "Shared objects", {
        type: "list",
        help: "Files, stores, prompts, conversations and caches of the account that every workspace may name: ids, or beginnings with a *. Where one workspace alone can reach the account, it may name all.",
        placeholder: "file-abc123",
      }),
      settingField(fetchesUrlsSetting, "Upstream fetches URLs", {
        type: "boolean",
        help: "No: pictures are fetched here and sent along. Yes, for an upstream in a private network: it can reach nothing that callers must not. Default: no in a private network, else yes.",
      }),
      settingField(reasoningSetting, "Model reasoning", {
        type: "json",
        help: 'By names of models or beginnings with a *: {"glm-*": {"switch": "thinking", "efforts": ["high", "max"]}}. Also always, never and wants_thoughts. Only where it differs from what is known.',
      }),
    );
  }
  if (speaksMessages(kind)) {
    fields.push(
      settingField(cacheMarksSetting, "Add cache marks", {
        type: "boolean",
        help: "Yes: translated calls to the Messages API are marked for the prompt cache even if the caller does not ask for it. Writing a cache costs more than plain input. Default: no.",
      }),
    );
  }
  fields.push(
    settingField(passMembers, "Forwarded fields", {
      type: "list",
      help: "Fields of requests that choose a model, a route, a tier or a size past the gateway's prices and grants, and are kept back unless they are named here.",
      placeholder: "service_tier",
    }),
  );
  fields.push(
    settingField(passThroughSetting, "Pass-through", {
      type: "json",
      help: '{"price_per_call": 0.001, "deny": ["fine_tuning"]}: what a call below /v1/providers/… costs, in USD, that no model has a price for (without it such a call is refused where a budget holds), and beginnings of paths that are refused beside those that administer the account.',
    }),
  );
  fields.push(
    settingField(costSourceSetting, "Cost", {
      type: "select",
      options: ["price", "vendor"],
      help: "Where an answer says what it cost: vendor books that, price books usage times price. Both are recorded. Default: vendor for OpenRouter and xAI, else price.",
    }),
  );
  fields.push(...networkFields);
  return {
    baseUrlHelp: form.baseUrlHelp ?? null,
    apiKey: form.apiKey ?? "required",
    apiKeyHelp: form.apiKeyHelp ?? null,
    fields,
  };
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
    const problem = value === null || value === "" ? null : settingTypeProblem(field, value);
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
      return Array.isArray(value) && value.every((each) => typeof each === "string") ? null : "must be a list of texts";
    case "select":
      return field.options?.some((option) => option === value) === true
        ? null
        : `must be one of: ${field.options?.join(", ")}`;
    case "json":
      return null;
    default:
      return typeof value === "string" && value.length <= settingCharactersMax ? null : "must be a text";
  }
}

const settingCharactersMax = 8_192;
const nameMax = 64;
