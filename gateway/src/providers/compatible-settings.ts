import type { Provider } from "#core/index.ts";
import type { DialectTraits, UsageConvention } from "#protocols/index.ts";
import { asMaxCompletionTokens, asMaxTokens, withoutStreamOptions } from "./chat-quirks.ts";
import type { Lane, OutboundDraft } from "./kind.ts";
import { type SettingField, settingField } from "./setting-field.ts";

/** What servers of chat completions differ in, for those kinds that can be any server. */
export const compatibleFields: readonly SettingField[] = [
  settingField("output_cap", "Output limit field", {
    type: "select",
    options: ["max_tokens", "max_completion_tokens"],
    help: "What the server calls it. A call that names it otherwise is changed.",
  }),
  settingField("stream_options", "Supports stream_options", {
    type: "boolean",
    help: "No: the server refuses it. Usage of streams is then estimated, unless the server tells it unasked. Default: yes.",
  }),
  settingField("schema_output", "Supports output schemas", {
    type: "boolean",
    help: "No: in a translated call JSON is asked for, and the schema said in words. Default: yes.",
  }),
  settingField("reasoning_field", "Reasoning field", {
    type: "select",
    options: ["reasoning_content", "reasoning", "none"],
    help: "The field in which earlier thoughts come back with the tool calls that they led to, in a translated call.",
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

/** A lane of chat completions of which these settings say more. */
export function asServersVary(lane: Lane): Lane {
  return { ...lane, traitsOf: compatibleTraits, adjust: asServerTakes, adjusts };
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

/** The same for a body that passes otherwise as it is. */
function asServerTakes(draft: OutboundDraft): void {
  const { output_cap: cap, stream_options: options } = draft.provider.settings;
  if (cap === "max_tokens") asMaxTokens(draft);
  else if (cap === "max_completion_tokens") asMaxCompletionTokens(draft);
  if (options === false) withoutStreamOptions(draft);
}
