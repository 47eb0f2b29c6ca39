import type {
  AnswerFormat,
  ReasoningRequest,
  SearchRequest,
  TextPart,
  ToolChoice,
  Turn,
  TurnTool,
} from "#core/index.ts";
import type { Warn } from "../codec.ts";
import {
  arrayMember,
  arrayOf,
  countMember,
  invalid,
  isObject,
  type JsonObject,
  numberMember,
  objectOf,
  parseBody,
  textMember,
  textOf,
  unsupported,
} from "../json/value.ts";
import { textPart } from "../turn/parts.ts";
import { readEffort } from "../turn/reasoning.ts";
import { defaultSearch } from "../turn/search-request.ts";
import { isAbsent, notSupported, quotableName, warnOfUnsentMembers, warnOnce } from "../turn/warnings.ts";
import { readInput } from "./read-steps.ts";

/** Throws Failure invalid_request, and unsupported_by_model for state that only Google stores. */
export function readInteractionTurn(body: Uint8Array, facts: { readonly stream: boolean }, warn: Warn): Turn {
  const request = parseBody(body);
  const warned = warnOnce(warn);
  refuseState(request);
  warnOfUnsentMembers(request, requestMembers, "", warned, isAbsent);
  const config = objectOf(request["generation_config"]);
  const { format, pictures } = readFormats(request, warned);
  return {
    stream: facts.stream,
    system: readInstruction(textMember(request, "system_instruction")),
    messages: readInput(request["input"], warned),
    ...readTools(request, config, warned),
    parallelToolCalls: null,
    ...readSettings(config, warned),
    format,
    verbosity: null,
    userId: null,
    metadata: readLabels(request["labels"]),
    cacheKey: null,
    serviceTier: textMember(request, "service_tier"),
    ...(pictures ? { pictures } : {}),
  };
}

/** Only Google has the stored objects, and runs agents. */
function refuseState(request: JsonObject): void {
  for (const param of ["previous_interaction_id", "continuation_token", "cached_content", "environment"]) {
    if ((request[param] ?? "") === "") continue;
    throw unsupported(param, `This model's upstream keeps no interactions: "${param}" cannot be used with it.`);
  }
  if (request["background"] === true) {
    throw unsupported("background", "This model's upstream cannot answer in the background.");
  }
  if ((request["agent"] ?? null) !== null) throw unsupported("agent", "This model's upstream has no agents.");
}

/** Read elsewhere, or without effect on the answer. */
const requestMembers: ReadonlySet<string> = new Set([
  ...["model", "input", "stream", "system_instruction", "tools", "generation_config", "response_format", "labels"],
  ...["response_mime_type", "response_modalities", "service_tier", "store", "background"],
  ...["previous_interaction_id", "continuation_token", "cached_content", "environment", "agent"],
]);

function readInstruction(instruction: string | null): readonly TextPart[] {
  return instruction === null || instruction === "" ? [] : [textPart(instruction)];
}

function readLabels(labels: unknown): Turn["metadata"] {
  if (!isObject(labels)) return null;
  const texts = Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return texts.length === 0 ? null : Object.fromEntries(texts);
}

/** Zero is a value; null and absence are not. */
function readSettings(config: JsonObject, warn: Warn) {
  warnOfUnsentMembers(config, configMembers, "generation_config", warn, isAbsent);
  const stop = arrayMember(config, "stop_sequences") ?? [];
  if (!stop.every((one) => typeof one === "string")) throw invalid("stop_sequences", "must be an array of strings");
  return {
    outputTokensMax: countMember(config, "max_output_tokens"),
    temperature: numberMember(config, "temperature"),
    topP: numberMember(config, "top_p"),
    topK: null,
    presencePenalty: null,
    frequencyPenalty: null,
    seed: numberMember(config, "seed"),
    stop,
    choices: 1,
    reasoning: readThinking(config, warn),
  };
}

const configMembers: ReadonlySet<string> = new Set([
  ...["max_output_tokens", "temperature", "top_p", "seed", "stop_sequences", "thinking_level", "thinking_summaries"],
  "tool_choice",
]);

function readThinking(config: JsonObject, warn: Warn): ReasoningRequest | null {
  const effort = readEffort(textOf(config["thinking_level"]), "thinking_level", warn);
  const visible = config["thinking_summaries"] === "auto";
  return effort === null && !visible ? null : { effort, budgetTokens: null, visible };
}

/** A schema alone is the earlier form of a text format. */
function readFormats(
  request: JsonObject,
  warn: Warn,
): { readonly format: AnswerFormat | null; readonly pictures: boolean } {
  const value = request["response_format"] ?? null;
  const formats = (Array.isArray(value) ? value : [value]).filter((one) => one !== null);
  const modalities = arrayOf(request["response_modalities"]).map((modality) => textOf(modality)?.toLowerCase());
  let pictures = modalities.includes("image");
  let format = readMimeType(request["response_mime_type"], "response_mime_type");
  const other = modalities.find((modality) => modality !== "text" && modality !== "image");
  if (other !== undefined) throw unsupported("response_modalities", onlyTextAndPictures);
  for (const entry of formats) {
    if (!isObject(entry)) throw invalid("response_format", "must be an object or an array of objects");
    const { type } = entry;
    if (type === "image") {
      pictures = true;
      warnOfUnsentMembers(entry, new Set(["type"]), "response_format", warn);
    } else if (type === "text") format = readTextFormat(entry, warn) ?? format;
    else if (type === "audio" || type === "video") throw unsupported("response_format", onlyTextAndPictures);
    else format = schemaFormat(entry);
  }
  return { format, pictures };
}

const onlyTextAndPictures = "The upstream answers only with text and pictures.";

function readTextFormat(entry: JsonObject, warn: Warn): AnswerFormat | null {
  warnOfUnsentMembers(entry, new Set(["type", "mime_type", "schema"]), "response_format", warn);
  const { schema } = entry;
  return isObject(schema) ? schemaFormat(schema) : readMimeType(entry["mime_type"], "response_format");
}

function readMimeType(type: unknown, param: string): AnswerFormat | null {
  if (type === undefined || type === null) return null;
  if (type === "application/json") return { kind: "json" };
  if (type === "text/plain") return { kind: "text" };
  throw unsupported(param, "The upstream answers only with plain text or JSON.");
}

function schemaFormat(schema: JsonObject): AnswerFormat {
  return { kind: "schema", name: null, description: null, schema, strict: null };
}

/** Google's own tools exist only there. */
function readTools(request: JsonObject, config: JsonObject, warn: Warn): Pick<Turn, "tools" | "toolChoice" | "search"> {
  const declared: TurnTool[] = [];
  let search: SearchRequest | null = null;
  for (const entry of arrayMember(request, "tools") ?? []) {
    if (!isObject(entry)) throw invalid("tools", "must contain objects with a type");
    if (entry["type"] === "function") declared.push(readTool(entry, warn));
    else if (entry["type"] === "google_search") {
      search = defaultSearch;
      const types = arrayOf(entry["search_types"]).filter((type) => type !== "web_search");
      if (types.length > 0) warn(notSupported("search_types of google_search"));
      warnOfUnsentMembers(entry, searchMembers, "google_search", warn);
    } else warn(`the tool ${quotableName(entry["type"])} exists only at Gemini and was dropped`);
  }
  const chosen = chooseTools(declared, config["tool_choice"], warn);
  return search === null ? chosen : { ...chosen, search };
}

const searchMembers: ReadonlySet<string> = new Set(["type", "search_types"]);

function readTool(tool: JsonObject, warn: Warn): TurnTool {
  const name = textOf(tool["name"]);
  if (name === null || name === "") throw invalid("tools", "must have names");
  warnOfUnsentMembers(tool, new Set(["type", "name", "description", "parameters"]), "a function", warn);
  const parameters = isObject(tool["parameters"]) ? tool["parameters"] : null;
  return { name, description: textOf(tool["description"]), parameters, strict: null, cache: null };
}

function chooseTools(tools: readonly TurnTool[], choice: unknown, warn: Warn): Pick<Turn, "tools" | "toolChoice"> {
  const allowed = objectOf(objectOf(choice)["allowed_tools"]);
  const mode = textOf(isObject(choice) ? allowed["mode"] : choice)?.toLowerCase() ?? null;
  const names = arrayOf(allowed["tools"]).filter((name) => typeof name === "string");
  if (mode === "validated") warn("the tool choice validated is treated as auto");
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0 && mode === "any") {
    return { tools, toolChoice: { kind: "tool", name: only } };
  }
  const offered = names.length === 0 ? tools : tools.filter((tool) => names.includes(tool.name));
  if (offered.length < tools.length) warn("allowed_tools was applied by dropping the other tools");
  return { tools: offered, toolChoice: mode === null ? null : choiceOf(mode) };
}

function choiceOf(mode: string): ToolChoice {
  if (mode === "auto" || mode === "validated") return { kind: "auto" };
  if (mode === "any" || mode === "none") return { kind: mode };
  throw invalid("generation_config.tool_choice", "must be auto, any, none or validated");
}
