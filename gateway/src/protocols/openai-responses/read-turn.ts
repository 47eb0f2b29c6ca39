import type { AnswerFormat, ReasoningRequest, Turn, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import {
  arrayOf,
  booleanOf,
  countMember,
  countOf,
  invalid,
  isObject,
  type JsonObject,
  numberMember,
  objectOf,
  parseBody,
  textOf,
  unsupported,
} from "../json/value.ts";
import { textPart } from "../turn/parts.ts";
import { readAutoCache } from "../turn/prompt-cache.ts";
import { readEffort } from "../turn/reasoning.ts";
import { namedSchema } from "../turn/schemas.ts";
import { isAbsent, notSupported, quotableName, warnOfUnsentMembers, warnOnce } from "../turn/warnings.ts";
import { asCompactionTurn, lastUserTexts } from "./compaction.ts";
import { InputReader } from "./read-input.ts";
import { readToolChoice, readTools, readWebSearch } from "./read-tools.ts";

export function readResponsesTurn(body: Uint8Array, facts: Facts, warning: Warn): Turn {
  const { turn, compacts } = readRequest(body, facts, warning);
  return compacts ? asCompactionTurn(turn, []) : turn;
}

/** Compacts the conversation even without a compaction_trigger. */
export function readCompactTurn(body: Uint8Array, facts: Facts, warning: Warn): Turn {
  const { turn } = readRequest(body, facts, warning);
  return asCompactionTurn(turn, lastUserTexts(turn.messages));
}

interface Facts {
  readonly stream: boolean;
}

function readRequest(body: Uint8Array, facts: Facts, warning: Warn) {
  const request = parseBody(body);
  const warn = warnOnce(warning);
  refuseServerState(request);
  warnOfUnknownMembers(request, warn);
  const input = new InputReader(warn);
  const instructions = textOf(request["instructions"]);
  if (instructions === null && (request["instructions"] ?? null) !== null)
    throw invalid("instructions", "must be a string");
  if (instructions !== null && instructions !== "") input.system.push(textPart(instructions));
  // Only a compaction may omit it.
  input.read(request["input"] ?? []);
  const tools = withInputTools(readTools(request["tools"], "tools", warn), input.tools);
  const search = readWebSearch(request["tools"], warn);
  const autoCache = readAutoCache(request);
  const chosen = readToolChoice(request["tool_choice"], tools, warn);
  const text = objectOf(request["text"]);
  const turn: Turn = {
    stream: facts.stream,
    system: input.system,
    messages: input.messages,
    tools: chosen.tools,
    toolChoice: chosen.choice,
    parallelToolCalls: booleanOf(request["parallel_tool_calls"]),
    outputTokensMax: countMember(request, "max_output_tokens"),
    temperature: numberMember(request, "temperature"),
    topP: numberMember(request, "top_p"),
    topK: null,
    // From the Open Responses specification.
    presencePenalty: numberMember(request, "presence_penalty"),
    frequencyPenalty: numberMember(request, "frequency_penalty"),
    seed: null,
    stop: [],
    choices: 1,
    format: readFormat(text["format"]),
    reasoning: readReasoning(request, warn),
    verbosity: textOf(text["verbosity"]),
    userId: textOf(request["safety_identifier"]) ?? textOf(request["user"]),
    metadata: readMetadata(request["metadata"]),
    cacheKey: textOf(request["prompt_cache_key"]),
    serviceTier: textOf(request["service_tier"]),
    ...(autoCache === null ? {} : { autoCache }),
    // Limits calls of the upstream's own tools.
    ...(search === null ? {} : { search: { ...search, usesMax: countOf(request["max_tool_calls"]) } }),
  };
  return { turn, compacts: input.endsWithCompaction };
}

/** Adds the tools of the input that the request does not declare; the last declaration counts. */
function withInputTools(tools: readonly TurnTool[], found: readonly TurnTool[]): readonly TurnTool[] {
  if (found.length === 0) return tools;
  const all = new Map(found.map((tool) => [tool.name, tool]));
  for (const { name } of tools) all.delete(name);
  return [...tools, ...all.values()];
}

/** Only OpenAI has the stored objects. */
function refuseServerState(request: JsonObject): void {
  for (const param of ["previous_response_id", "conversation", "prompt"]) {
    if (request[param] === undefined || request[param] === null) continue;
    throw unsupported(param, `This model's upstream keeps no responses: "${param}" cannot be used with it.`);
  }
  if (request["background"] === true) {
    throw unsupported("background", "This model's upstream cannot answer in the background.");
  }
}

function warnOfUnknownMembers(request: JsonObject, warn: Warn): void {
  const { truncation, top_logprobs, ...others } = request;
  if (truncation === "auto") warn(notSupported("truncation"));
  warnOfUnsentMembers({ ...others, top_logprobs: top_logprobs || null }, requestMembers, "", warn, isAbsent);
  for (const wanted of arrayOf(request["include"])) {
    if (wanted === "reasoning.encrypted_content") continue;
    warn(notSupported(`${quotableName(wanted)} of include`));
  }
}

/** Read above, or without effect on the answer. */
const requestMembers: ReadonlySet<string> = new Set([
  ...["model", "input", "instructions", "stream", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens"],
  ...["temperature", "top_p", "presence_penalty", "frequency_penalty", "text", "reasoning", "include", "metadata"],
  ...["safety_identifier", "user", "prompt_cache_key", "service_tier", "background"],
  ...["store", "stream_options", "prompt_cache_retention", "prompt_cache_options", "client_metadata"],
]);

function readFormat(value: unknown): AnswerFormat | null {
  if (value === undefined || value === null) return null;
  const format = objectOf(value);
  switch (format["type"]) {
    case "text":
      return { kind: "text" };
    case "json_object":
      return { kind: "json" };
    case "json_schema": {
      const { schema } = format;
      if (!isObject(schema)) throw invalid("text.format.schema", "must be an object");
      return namedSchema(format, schema);
    }
    default:
      throw invalid("text.format.type", "must be text, json_object or json_schema");
  }
}

/** Requesting sealed reasoning requests its summary, too. */
function readReasoning(request: JsonObject, warn: Warn): ReasoningRequest | null {
  const reasoning = objectOf(request["reasoning"]);
  const effort = readEffort(textOf(reasoning["effort"]), "reasoning.effort", warn);
  if ((textOf(reasoning["mode"]) ?? "standard") !== "standard") {
    warn(notSupported("reasoning.mode"));
  }
  warnOfUnsentMembers(reasoning, reasoningMembers, "reasoning", warn);
  const summary = textOf(reasoning["summary"]) ?? textOf(reasoning["generate_summary"]);
  const visible = summary !== null || arrayOf(request["include"]).includes("reasoning.encrypted_content");
  return effort === null && !visible ? null : { effort, budgetTokens: null, visible };
}

const reasoningMembers: ReadonlySet<string> = new Set(["effort", "summary", "generate_summary", "mode"]);

function readMetadata(value: unknown): Readonly<Record<string, string>> | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  if (entries.length < Object.keys(value).length) throw invalid("metadata", "must contain only strings");
  return entries.length === 0 ? null : Object.fromEntries(entries);
}
