import type { AnswerFormat, SearchRequest, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { googleThinking, readGoogleExtras } from "../gemini/google-extras.ts";
import {
  arrayOf,
  booleanMember,
  booleanOf,
  countMember,
  isObject,
  type JsonObject,
  missing,
  numberMember,
  objectOf,
  parseBody,
  textMember,
  textOf,
  unsupported,
  wrong,
} from "../json/value.ts";
import { readAutoCache } from "../turn/prompt-cache.ts";
import { plainSearch, readContextSize, readLocation } from "../turn/search-request.ts";
import { plainName, warnOfUnasked, warnOnce } from "../turn/warnings.ts";
import { readMessages } from "./read-messages.ts";
import { readToolbox } from "./read-tools.ts";
import { readReasoning } from "./reasoning.ts";

/** A chat-completions request in neutral form. Source: OpenAI API reference, "Create chat completion". */
export function readChatTurn(body: Uint8Array, facts: { readonly stream: boolean }, warnAlways: Warn): Turn {
  const warn = warnOnce(warnAlways);
  const request = parseBody(body);
  const pictures = readModalities(request);
  warnOfLosses(request, warn);
  const search = readSearch(request["web_search_options"], warn);
  const google = readGoogleExtras(request, warn);
  const autoCache = readAutoCache(request);
  // A caller of functions can be told of one call only.
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
    reasoning: readReasoning(request, warn) ?? googleThinking(request),
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

/** Read above, or harmless when nobody reads them. */
const known: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "stream_options", "tools", "tool_choice", "functions", "function_call"],
  ...["parallel_tool_calls", "max_completion_tokens", "max_tokens", "temperature", "top_p", "top_k"],
  ...["presence_penalty", "frequency_penalty", "seed", "stop", "n", "response_format", "verbosity"],
  ...["reasoning_effort", "reasoning", "thinking", "include_reasoning", "safety_identifier", "user", "metadata"],
  ...["prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "service_tier"],
  ...["modalities", "audio", "prediction", "store", "web_search_options"],
  ...["extra_body", "google"],
]);

function warnOfLosses(request: JsonObject, warn: Warn): void {
  for (const field in request) {
    if (known.has(field) || saysNothing(request[field])) continue;
    warn(`${plainName(field)} is not understood by the upstream and was left out`);
  }
}

/** null, false, 0 and empty containers ask for what happens anyway. */
function saysNothing(value: unknown): boolean {
  if (value === null || value === false || value === 0) return true;
  return typeof value === "object" && Object.keys(value as object).length === 0;
}

/** Whether pictures are wanted. A spoken answer has no neutral form. */
function readModalities(request: JsonObject): boolean {
  const modalities = arrayOf(request["modalities"]);
  const other = modalities.find((modality) => modality !== "text" && modality !== "image");
  if (other !== undefined) {
    throw unsupported("modalities", `This model's upstream cannot answer in ${plainName(other)}.`);
  }
  return modalities.includes("image");
}

/** An empty object asks for a search too. */
function readSearch(options: unknown, warn: Warn): SearchRequest | null {
  if (!isObject(options)) return null;
  warnOfUnasked(options, ofSearch, "web_search_options", warn);
  const user = objectOf(options["user_location"]);
  warnOfUnasked(user, ofUserLocation, "web_search_options.user_location", warn);
  return {
    ...plainSearch,
    location: readLocation(user["approximate"], "web_search_options.user_location", warn),
    contextSize: readContextSize(options["search_context_size"]),
  };
}

const ofSearch: ReadonlySet<string> = new Set(["search_context_size", "user_location"]);
const ofUserLocation: ReadonlySet<string> = new Set(["type", "approximate"]);

function readStop(stop: unknown): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const all: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return all.flatMap((sequence) => {
    if (typeof sequence !== "string") throw wrong("stop", "must be a string or an array of strings");
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
    case "json_schema":
      return readSchemaFormat(objectOf(format["json_schema"]));
    default:
      throw wrong("response_format", "is not a format that is known");
  }
}

function readSchemaFormat(format: JsonObject): AnswerFormat {
  const schema = format["schema"];
  if (!isObject(schema)) throw missing("response_format.json_schema.schema");
  return {
    kind: "schema",
    name: textOf(format["name"]),
    description: textOf(format["description"]),
    schema,
    strict: booleanOf(format["strict"]),
  };
}

function readMetadata(value: unknown): Readonly<Record<string, string>> | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw wrong("metadata", "must be an object");
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name, typeof text === "string" ? text : JSON.stringify(text)]),
  );
}
