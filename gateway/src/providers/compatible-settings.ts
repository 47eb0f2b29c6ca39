import type { Provider } from "#core/index.ts";
import type { DialectTraits, UsageConvention } from "#protocols/index.ts";
import { dropStreamOptions, renameToMaxCompletionTokens, renameToMaxTokens } from "./chat-quirks.ts";
import type { Lane, OutboundDraft } from "./kind.ts";
import { type SettingField, settingField } from "./setting-field.ts";

/** Settings for servers that speak chat completions with differences. */
export const compatibleFields: readonly SettingField[] = [
  settingField("output_cap", "Output limit field", {
    type: "select",
    options: ["max_tokens", "max_completion_tokens"],
    help: "The server's name for the output limit. Calls with the other name are changed.",
  }),
  settingField("stream_options", "Supports stream_options", {
    type: "boolean",
    help: "No: the server refuses it, and usage of streams is estimated unless the server always reports it. Default: yes.",
  }),
  settingField("schema_output", "Supports output schemas", {
    type: "boolean",
    help: "No: translated calls request JSON and describe the schema in the prompt. Default: yes.",
  }),
  settingField("reasoning_field", "Reasoning field", {
    type: "select",
    options: ["reasoning_content", "reasoning", "none"],
    help: "The field for earlier thoughts in a translated call with tools.",
  }),
  settingField("reasoning_usage", "Reasoning tokens in usage", {
    type: "select",
    options: ["inside", "beside"],
    help: "Whether completion_tokens includes reasoning_tokens. Default: inside, as at OpenAI.",
  }),
  settingField("cache_usage", "Cached tokens in usage", {
    type: "select",
    options: ["inside", "beside"],
    help: "Whether prompt_tokens includes cached tokens. Default: inside, as at OpenAI.",
  }),
];

export function withCompatibleSettings(lane: Lane): Lane {
  return { ...lane, traitsOf: compatibleTraits, adjust: adjustForServer, adjusts };
}

function compatibleTraits({ settings }: Provider): DialectTraits {
  const { output_cap: cap, reasoning_field: field, reasoning_usage: reasoning, cache_usage: cache } = settings;
  const usage: UsageConvention = {
    ...(reasoning === "beside" ? { reasoning } : {}),
    ...(cache === "beside" ? { cacheBeside: true } : {}),
  };
  return {
    usage,
    ...(cap === "max_tokens" || cap === "max_completion_tokens" ? { outputCapName: cap } : {}),
    ...(settings["stream_options"] === false ? { noStreamOptions: true } : {}),
    ...(typeof settings["schema_output"] === "boolean" ? { noSchemaOutput: !settings["schema_output"] } : {}),
    ...(field === "reasoning_content" || field === "reasoning" || field === "none" ? { reasoningField: field } : {}),
  };
}

function adjusts({ settings }: Provider): boolean {
  return typeof settings["output_cap"] === "string" || settings["stream_options"] === false;
}

/** Applies the settings to an untranslated body. */
function adjustForServer(draft: OutboundDraft): void {
  const { output_cap: cap, stream_options: options } = draft.provider.settings;
  if (cap === "max_tokens") renameToMaxTokens(draft);
  else if (cap === "max_completion_tokens") renameToMaxCompletionTokens(draft);
  if (options === false) dropStreamOptions(draft);
}
