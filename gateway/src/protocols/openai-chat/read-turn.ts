import type { AnswerFormat, ReasoningRequest, SearchRequest, ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { readGoogleExtras, readGoogleThinking } from "../gemini/google-extras.ts";
import {
  arrayMember,
  arrayOf,
  booleanMember,
  booleanOf,
  countMember,
  countOf,
  invalid,
  isObject,
  type JsonObject,
  missingParam,
  numberMember,
  objectOf,
  parseBody,
  requireName,
  textMember,
  textOf,
  unsupported,
} from "../json/value.ts";
import { readAutoCache, readCacheHint } from "../turn/prompt-cache.ts";
import { readEffort } from "../turn/reasoning.ts";
import { namedSchema } from "../turn/schemas.ts";
import { defaultSearch, readContextSize, readLocation } from "../turn/search-request.ts";
import { notSupported, quotableName, warnOfUnsentMembers, warnOnce } from "../turn/warnings.ts";
import { customTool } from "./custom-tool.ts";
import { readMessages } from "./read-messages.ts";

/** Source: OpenAI API reference, "Create chat completion". */
export function readChatTurn(body: Uint8Array, facts: { readonly stream: boolean }, warnAlways: Warn): Turn {
  const warn = warnOnce(warnAlways);
  const request = parseBody(body);
  const pictures = readModalities(request);
  warnOfUnsentMembers(request, requestMembers, "", warn);
  const search = readSearch(request["web_search_options"], warn);
  const google = readGoogleExtras(request, warn);
  const autoCache = readAutoCache(request);
  // Callers of `functions` can read only one call.
  const legacy = arrayOf(request["functions"]).length > 0 && arrayOf(request["tools"]).length === 0;
  return {
    stream: facts.stream,
    ...readMessages(request["messages"], warn),
    ...readToolbox(request, warn),
    parallelToolCalls: booleanMember(request, "parallel_tool_calls") ?? (legacy ? false : null),
    outputTokensMax: countMember(request, "max_completion_tokens", 1) ?? countMember(request, "max_tokens", 1),
    temperature: numberMember(request, "temperature"),
    topP: numberMember(request, "top_p"),
    topK: countMember(request, "top_k"),
    presencePenalty: numberMember(request, "presence_penalty"),
    frequencyPenalty: numberMember(request, "frequency_penalty"),
    seed: numberMember(request, "seed"),
    stop: readStop(request["stop"]),
    choices: countMember(request, "n", 1) ?? 1,
    format: readFormat(request["response_format"]),
    reasoning: readReasoning(request, warn) ?? readGoogleThinking(request),
    verbosity: textMember(request, "verbosity"),
    userId: textMember(request, "safety_identifier") ?? textMember(request, "user"),
    metadata: readMetadata(request["metadata"]),
    cacheKey: textMember(request, "prompt_cache_key"),
    serviceTier: textMember(request, "service_tier"),
    ...(autoCache === null ? {} : { autoCache }),
    ...(search === null ? {} : { search }),
    ...(google === null ? {} : { google }),
    ...(pictures ? { pictures } : {}),
    ...(legacy ? { legacyFunctions: true } : {}),
  };
}

/** Read above, or without effect. */
const requestMembers: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "stream_options", "tools", "tool_choice", "functions", "function_call"],
  ...["parallel_tool_calls", "max_completion_tokens", "max_tokens", "temperature", "top_p", "top_k"],
  ...["presence_penalty", "frequency_penalty", "seed", "stop", "n", "response_format", "verbosity"],
  ...["reasoning_effort", "reasoning", "thinking", "include_reasoning", "safety_identifier", "user", "metadata"],
  ...["prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "service_tier"],
  ...["modalities", "audio", "prediction", "store", "web_search_options"],
  ...["extra_body", "google"],
]);

/** Whether pictures are requested. Audio answers are not supported. */
function readModalities(request: JsonObject): boolean {
  const modalities = arrayOf(request["modalities"]);
  const other = modalities.find((modality) => modality !== "text" && modality !== "image");
  if (other !== undefined) {
    throw unsupported("modalities", `This model's upstream cannot answer in ${quotableName(other)}.`);
  }
  return modalities.includes("image");
}

/** An empty object also requests a search. */
function readSearch(options: unknown, warn: Warn): SearchRequest | null {
  if (!isObject(options)) return null;
  warnOfUnsentMembers(options, searchMembers, "web_search_options", warn);
  const user = objectOf(options["user_location"]);
  warnOfUnsentMembers(user, locationMembers, "web_search_options.user_location", warn);
  return {
    ...defaultSearch,
    location: readLocation(user["approximate"], "web_search_options.user_location", warn),
    contextSize: readContextSize(options["search_context_size"]),
  };
}

const searchMembers: ReadonlySet<string> = new Set(["search_context_size", "user_location"]);
const locationMembers: ReadonlySet<string> = new Set(["type", "approximate"]);

function readStop(stop: unknown): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const all: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return all.flatMap((sequence) => {
    if (typeof sequence !== "string") throw invalid("stop", "must be a string or an array of strings");
    return sequence === "" ? [] : [sequence];
  });
}

function readFormat(value: unknown): AnswerFormat | null {
  if (value === undefined || value === null) return null;
  const format = objectOf(value);
  switch (format["type"]) {
    case "text":
      return { kind: "text" };
    case "json_object":
      return { kind: "json" };
    case "json_schema": {
      const named = objectOf(format["json_schema"]);
      const { schema } = named;
      if (!isObject(schema)) throw missingParam("response_format.json_schema.schema");
      return namedSchema(named, schema);
    }
    default:
      throw invalid("response_format", "is not a known format");
  }
}

function readMetadata(value: unknown): Readonly<Record<string, string>> | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw invalid("metadata", "must be an object");
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name, typeof text === "string" ? text : JSON.stringify(text)]),
  );
}

/**
 * Reads `reasoning_effort` and the `thinking` object of other vendors. The dialect cannot ask to see reasoning, so `thinking` or
 * `include_reasoning` does.
 */
function readReasoning(request: JsonObject, warn: Warn): ReasoningRequest | null {
  const effortName = textMember(request, "reasoning_effort");
  const effort = readEffort(effortName, "this reasoning_effort", warn);
  const unified = request["reasoning"];
  if (effortName === null && isObject(unified)) return readOpenRouterReasoning(unified, warn);
  const thinking = isObject(request["thinking"]) ? request["thinking"] : null;
  const visible = request["include_reasoning"] === true || (thinking !== null && thinking["type"] !== "disabled");
  if (thinking?.["type"] === "disabled") return { effort: effort ?? "none", budgetTokens: null, visible };
  const budgetTokens = thinking === null ? null : countOf(thinking["budget_tokens"]);
  return effort === null && budgetTokens === null && !visible ? null : { effort, budgetTokens, visible };
}

/** OpenRouter's `reasoning`, which its clients send to every gateway. Source: openrouter.ai/docs, "Reasoning Tokens". */
function readOpenRouterReasoning(reasoning: JsonObject, warn: Warn): ReasoningRequest | null {
  warnOfUnsentMembers(reasoning, reasoningMembers, "reasoning", warn);
  const effort = readEffort(textOf(reasoning["effort"]), "this reasoning.effort", warn);
  if (reasoning["enabled"] === false) return { effort: "none", budgetTokens: null, visible: false };
  const budgetTokens = countOf(reasoning["max_tokens"]);
  const isRequested = effort !== null || budgetTokens !== null || reasoning["enabled"] === true;
  return isRequested ? { effort, budgetTokens, visible: reasoning["exclude"] !== true && effort !== "none" } : null;
}

const reasoningMembers: ReadonlySet<string> = new Set(["effort", "max_tokens", "exclude", "enabled", "summary"]);

type Toolbox = Pick<Turn, "tools" | "toolChoice">;

/** Includes the deprecated `functions` and `function_call`. */
function readToolbox(request: JsonObject, warn: Warn): Toolbox {
  const tools: TurnTool[] = [];
  (arrayMember(request, "tools") ?? []).forEach((tool, index) => {
    const read = readTool(tool, `tools[${index}]`, warn);
    if (read !== null) tools.push(read);
  });
  (arrayMember(request, "functions") ?? []).forEach((tool, index) => {
    tools.push(readFunction(tool, `functions[${index}]`));
  });
  const choice = request["tool_choice"] ?? request["function_call"] ?? null;
  if (isObject(choice) && choice["type"] === "allowed_tools") return allowOnly(choice, tools, warn);
  return { tools, toolChoice: readChoice(choice) };
}

function readTool(value: unknown, param: string, warn: Warn): TurnTool | null {
  const tool = objectOf(value);
  const type = textOf(tool["type"]);
  if (type === "custom") return readCustom(objectOf(tool["custom"]), param, warn);
  if (type === "function" || (type === null && isObject(tool["function"]))) {
    return { ...readFunction(tool["function"], `${param}.function`), cache: readCacheHint(tool) };
  }
  if (type === null) throw missingParam(`${param}.type`);
  warn(notSupported(`the tool type ${quotableName(type)}`));
  return null;
}

function readFunction(value: unknown, param: string): TurnTool {
  const declared = objectOf(value);
  const parameters = declared["parameters"] ?? null;
  if (parameters !== null && !isObject(parameters)) throw invalid(`${param}.parameters`, "must be an object");
  return {
    name: requireName(declared["name"], `${param}.name`),
    description: textOf(declared["description"]),
    parameters,
    strict: booleanOf(declared["strict"]),
    cache: null,
  };
}

function readCustom(custom: JsonObject, param: string, warn: Warn): TurnTool {
  if (objectOf(custom["format"])["type"] === "grammar") {
    warn(notSupported("the grammar of a custom tool"));
  }
  return customTool(requireName(custom["name"], `${param}.custom.name`), textOf(custom["description"]));
}

function readChoice(choice: unknown): ToolChoice | null {
  switch (choice) {
    case null:
      return null;
    case "auto":
    case "none":
      return { kind: choice };
    case "required":
    case "any":
      return { kind: "any" };
    default: {
      const name = isObject(choice) ? chosenName(choice) : null;
      if (name === null) throw invalid("tool_choice", "is not a known choice");
      return { kind: "tool", name };
    }
  }
}

/** `{"type":"function","function":{"name"}}`, its custom variant, or the old `{"name"}`. */
function chosenName(choice: JsonObject): string | null {
  const inner = choice["function"] ?? choice["custom"] ?? choice;
  return textOf(objectOf(inner)["name"]);
}

/** Other dialects have no such list, so the other tools are dropped. */
function allowOnly(choice: JsonObject, tools: readonly TurnTool[], warn: Warn): Toolbox {
  const allowed = objectOf(choice["allowed_tools"]);
  const names = new Set(arrayOf(allowed["tools"]).map((tool) => chosenName(objectOf(tool))));
  const offered = tools.filter((tool) => names.has(tool.name));
  if (offered.length < tools.length) {
    warn("allowed_tools was applied by dropping the other tools");
  }
  return { tools: offered, toolChoice: { kind: allowed["mode"] === "required" ? "any" : "auto" } };
}
