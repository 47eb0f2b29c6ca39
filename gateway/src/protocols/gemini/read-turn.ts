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
  arrayOf,
  invalid,
  isObject,
  type JsonObject,
  missingParam,
  parseBody,
  textOf,
  unsupported,
} from "../json/value.ts";
import { isAbsent, notSupported, quotableName, warnOfUnsentMembers, warnOnce } from "../turn/warnings.ts";
import { camelKeys, toJsonSchema } from "./protobuf-json.ts";
import { readContents } from "./read-contents.ts";
import { readSearch, searchNames } from "./write-turn.ts";

/** Throws Failure invalid_request. */
export function readGeminiTurn(body: Uint8Array, facts: { readonly stream: boolean }, warn: Warn): Turn {
  const request = camelKeys(parseBody(body));
  const warned = warnOnce(warn);
  const { contents, cachedContent } = request;
  if (contents === undefined || contents === null) throw missingParam("contents");
  if (!Array.isArray(contents)) throw invalid("contents", "must be an array");
  if (contents.length === 0) throw invalid("contents", "must contain at least one content");
  if (cachedContent !== undefined && cachedContent !== null && cachedContent !== "") {
    throw unsupported("cachedContent", "Content cached at Gemini cannot be used with this upstream.");
  }
  warnOfUnsentMembers(request, requestMembers, "", warned, isAbsent);
  return {
    stream: facts.stream,
    system: readInstruction(request["systemInstruction"]),
    messages: readContents(contents, warned),
    ...readTools(request["tools"], request["toolConfig"], warned),
    parallelToolCalls: null,
    ...readGeneration(request["generationConfig"], warned),
    userId: null,
    metadata: readLabels(request["labels"]),
    cacheKey: null,
    serviceTier: textOf(request["serviceTier"])?.toLowerCase() ?? null,
  };
}

/** `model` is also in the path; `store` concerns Google's own logs. */
const requestMembers: ReadonlySet<string> = new Set([
  "model",
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  "cachedContent",
  "labels",
  "serviceTier",
  "store",
]);

function readInstruction(instruction: unknown): TextPart[] {
  if (instruction === undefined || instruction === null) return [];
  const parts = typeof instruction === "string" ? [{ text: instruction }] : arrayOf(camelKeys(instruction)["parts"]);
  return parts.map((part) => {
    const text = textOf(camelKeys(part)["text"]);
    if (text === null) throw invalid("systemInstruction", "must contain text parts");
    return { kind: "text", text, cache: null };
  });
}

function readLabels(labels: unknown): Turn["metadata"] {
  if (!isObject(labels)) return null;
  const texts = Object.entries(labels satisfies JsonObject).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return texts.length === 0 ? null : Object.fromEntries(texts);
}

/** Zero is a value; null and absence are not. */
function readGeneration(generationConfig: unknown, warn: Warn) {
  const config = camelKeys(generationConfig);
  warnOfUnsentMembers(config, configMembers, "generationConfig", warn, isAbsent);
  const pictures = readModalities(config["responseModalities"]);
  return {
    outputTokensMax: number(config, "maxOutputTokens"),
    temperature: number(config, "temperature"),
    topP: number(config, "topP"),
    topK: number(config, "topK"),
    presencePenalty: number(config, "presencePenalty"),
    frequencyPenalty: number(config, "frequencyPenalty"),
    seed: number(config, "seed"),
    stop: stopSequences(config["stopSequences"]),
    choices: number(config, "candidateCount") ?? 1,
    format: readFormat(config),
    reasoning: readThinking(config["thinkingConfig"]),
    verbosity: null,
    ...(pictures ? { pictures } : {}),
  };
}

const configMembers: ReadonlySet<string> = new Set([
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "seed",
  "stopSequences",
  "candidateCount",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseModalities",
  "thinkingConfig",
]);

function number(config: JsonObject, name: string): number | null {
  const value = config[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== "number") throw invalid(`generationConfig.${name}`, "must be a number");
  return value;
}

function stopSequences(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const texts = arrayOf(value).filter((sequence) => typeof sequence === "string");
  if (!Array.isArray(value) || texts.length < value.length) {
    throw invalid("generationConfig.stopSequences", "must be an array of strings");
  }
  return texts;
}

/** Whether pictures are requested. Audio answers are not supported. */
function readModalities(modalities: unknown): boolean {
  const names = arrayOf(modalities).map((modality) => textOf(modality)?.toUpperCase());
  if (names.every((modality) => modality === "TEXT" || modality === "IMAGE")) return names.includes("IMAGE");
  throw unsupported("generationConfig.responseModalities", "The upstream answers only with text and pictures.");
}

function readFormat(config: JsonObject): AnswerFormat | null {
  const type = textOf(config["responseMimeType"]);
  if (type === null || type === "") return null;
  if (type === "text/plain") return { kind: "text" };
  // No other dialect answers with a bare enum value.
  if (type !== "application/json") {
    throw unsupported("generationConfig.responseMimeType", "The upstream answers only with plain text or JSON.");
  }
  const schema = config["responseJsonSchema"] ?? config["responseSchema"];
  if (!isObject(schema)) return { kind: "json" };
  return {
    kind: "schema",
    name: null,
    description: null,
    schema: schema === config["responseJsonSchema"] ? schema : toJsonSchema(schema),
    strict: null,
  };
}

const efforts = ["minimal", "low", "medium", "high"] as const;

/** A budget of 0 disables thinking, -1 leaves it to the model. */
function readThinking(thinkingConfig: unknown): ReasoningRequest | null {
  if (!isObject(thinkingConfig)) return null;
  const config = camelKeys(thinkingConfig);
  const budget = number(config, "thinkingBudget");
  const level = textOf(config["thinkingLevel"])?.toLowerCase();
  const effort = budget === 0 ? "none" : (efforts.find((known) => known === level) ?? null);
  // An empty config must not enable thinking elsewhere.
  if (effort === null && budget === null && config["includeThoughts"] !== true) return null;
  return {
    effort,
    budgetTokens: budget === null || budget <= 0 ? null : budget,
    visible: config["includeThoughts"] === true,
  };
}

/** Google's own tools exist only there. */
function readTools(tools: unknown, toolConfig: unknown, warn: Warn): Pick<Turn, "tools" | "toolChoice" | "search"> {
  const declared: TurnTool[] = [];
  let search: SearchRequest | null = null;
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) throw invalid("tools", "must be an array");
  for (const entry of arrayOf(tools)) {
    const tool = camelKeys(entry);
    for (const declaration of arrayOf(tool["functionDeclarations"])) declared.push(readTool(declaration, warn));
    for (const name of Object.keys(tool)) {
      if (searchNames.has(name)) search = readSearch(tool[name], warn);
      else if (name !== "functionDeclarations")
        warn(`the tool ${quotableName(name)} exists only at Gemini and was dropped`);
    }
  }
  const config = camelKeys(toolConfig);
  warnOfUnsentMembers(config, new Set(["functionCallingConfig"]), "toolConfig", warn, isAbsent);
  const chosen = chooseTools(declared, camelKeys(config["functionCallingConfig"]), warn);
  return search === null ? chosen : { ...chosen, search };
}

function readTool(declaration: unknown, warn: Warn): TurnTool {
  const tool = camelKeys(declaration);
  const name = textOf(tool["name"]);
  if (name === null || name === "") throw invalid("tools", "must have names");
  if (tool["response"] !== undefined || tool["responseJsonSchema"] !== undefined) {
    warn(notSupported("the schema of a tool's response"));
  }
  const { parametersJsonSchema, parameters: own } = tool;
  let parameters = isObject(parametersJsonSchema) ? parametersJsonSchema : null;
  if (parameters === null && isObject(own)) parameters = toJsonSchema(own);
  return { name, description: textOf(tool["description"]), parameters, strict: null, cache: null };
}

function chooseTools(tools: readonly TurnTool[], config: JsonObject, warn: Warn): Pick<Turn, "tools" | "toolChoice"> {
  const mode = textOf(config["mode"])?.toUpperCase() ?? "MODE_UNSPECIFIED";
  const allowed = arrayOf(config["allowedFunctionNames"]).filter((name) => typeof name === "string");
  if (config["streamFunctionCallArguments"] === true) {
    warn("streamFunctionCallArguments was dropped: calls are sent whole");
  }
  if (mode === "VALIDATED") warn("the mode VALIDATED is treated as AUTO");
  const [only, ...others] = allowed;
  if (only !== undefined && others.length === 0 && mode === "ANY") {
    return { tools, toolChoice: { kind: "tool", name: only } };
  }
  const offered = allowed.length === 0 ? tools : tools.filter((tool) => allowed.includes(tool.name));
  if (offered.length < tools.length) warn("allowedFunctionNames was applied by dropping the other tools");
  return { tools: offered, toolChoice: choiceOf(mode) };
}

function choiceOf(mode: string): ToolChoice | null {
  if (mode === "MODE_UNSPECIFIED") return null;
  if (mode === "AUTO" || mode === "VALIDATED") return { kind: "auto" };
  if (mode === "ANY") return { kind: "any" };
  if (mode === "NONE") return { kind: "none" };
  throw invalid("toolConfig", "must have the mode AUTO, ANY, NONE or VALIDATED");
}
