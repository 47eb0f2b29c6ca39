import type { SearchRequest, ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { DialectTraits, TurnTarget, Warn } from "../codec.ts";
import { leaveGoogleExtras } from "../gemini/google-extras.ts";
import { type JsonObject, jsonBytes, orUndefined, unsupported } from "../json/value.ts";
import { askedEffort, fitReasoning, openaiSampling, type ReasoningSetting, refusesStop } from "../turn/reasoning.ts";
import type { ReasoningTraits } from "../turn/reasoning-traits.ts";
import { toolSchema, writeNamedSchema } from "../turn/schemas.ts";
import { warnOfNoSearch, warnOfSearchParameters } from "../turn/search-request.ts";
import { shortId, shortToolName } from "../turn/tool-calls.ts";
import { warnOnce } from "../turn/warnings.ts";
import { writeMessages } from "./write-messages.ts";

/** OpenAI's limits. */
const stopsMax = 4;
const userIdCharactersMax = 64;

/** Throws Failure unsupported_by_model if dropping something would change the answer. */
export function writeChatTurn(turn: Turn, target: TurnTarget, warnAlways: Warn): Uint8Array {
  const warn = warnOnce(warnAlways);
  if (turn.choices > 1) throw unsupported("n", "Only one answer at a time can be translated.");
  const format = writeFormat(turn, target.traits.noSchemaOutput !== true, warn);
  const instructions = turn.system.map((part) => part.text);
  if (format.instruction !== null) instructions.push(format.instruction);
  const { traits } = target;
  const { told: reasoning, choice } = reconcileToolChoice(turn, traits.reasoning ?? {}, warn);
  const sampling = openaiSampling(turn, traits, reasoning.effort, warn);
  const request: JsonObject = {
    model: target.upstreamModel,
    messages: writeMessages(
      turn,
      target,
      { instructions, thinks: reasoning.on !== false && reasoning.effort !== "none" },
      warn,
    ),
    ...(turn.stream ? { stream: true } : {}),
    ...(turn.stream && traits.noStreamOptions !== true ? { stream_options: { include_usage: true } } : {}),
    ...writeTools(turn, choice, warn),
    [target.traits.outputCapName ?? "max_completion_tokens"]: orUndefined(turn.outputTokensMax),
    temperature: orUndefined(sampling.temperature),
    top_p: orUndefined(sampling.topP),
    presence_penalty: orUndefined(sampling.presencePenalty),
    frequency_penalty: orUndefined(sampling.frequencyPenalty),
    seed: orUndefined(turn.seed),
    stop: writeStop(turn.stop, refusesStop(traits, reasoning.effort), warn),
    response_format: format.responseFormat,
    ...writeReasoning(turn, reasoning, traits),
    verbosity: orUndefined(turn.verbosity),
    user: turn.userId === null ? undefined : shortId(turn.userId, "user_", userIdCharactersMax),
    service_tier: orUndefined(writeTier(turn.serviceTier, warn)),
    ...writeSearch(turn, searchesByOptions(target.upstreamModel, target.traits), warn),
    modalities: turn.pictures === true ? ["text", "image"] : undefined,
  };
  warnOfLosses(turn, warn);
  return jsonBytes(request);
}

function writeReasoning({ reasoning }: Turn, { effort, on }: ReasoningSetting, traits: DialectTraits): JsonObject {
  const { switch: by } = traits.reasoning ?? {};
  return {
    reasoning_effort: orUndefined(effort),
    ...(by === "thinking" && on !== null ? { thinking: { type: on ? "enabled" : "disabled" } } : {}),
    ...(by === "enable_thinking" && on !== null ? { enable_thinking: on } : {}),
    ...(by === "enable_thinking" && on === true
      ? { thinking_budget: orUndefined(reasoning?.budgetTokens ?? null) }
      : {}),
  };
}

function warnOfLosses(turn: Turn, warn: Warn): void {
  leaveGoogleExtras(turn, warn);
  if (turn.topK !== null) warn("top_k is not understood by the upstream and was left out");
  if (turn.metadata !== null && Object.keys(turn.metadata).length > 0) {
    // OpenAI accepts metadata only for stored answers.
    warn("metadata is not understood by the upstream and was left out");
  }
}

function writeStop(stop: readonly string[], isRefused: boolean, warn: Warn): readonly string[] | undefined {
  if (stop.length === 0) return undefined;
  if (isRefused) {
    warn("stop sequences are refused by a model that reasons and were left out");
    return undefined;
  }
  if (stop.length > stopsMax) warn(`stop sequences after the first ${stopsMax} were left out`);
  return stop.slice(0, stopsMax);
}

/** OpenAI refuses a tool choice and parallel_tool_calls without tools. */
function writeTools(turn: Turn, choice: ToolChoice | null, warn: Warn): JsonObject {
  if (turn.tools.length === 0) {
    if (choice?.kind === "any" || choice?.kind === "tool") warn("tool_choice without tools was left out");
    return {};
  }
  return {
    tools: turn.tools.map((tool) => writeTool(tool, warn)),
    tool_choice: choice === null ? undefined : writeChoice(choice),
    parallel_tool_calls: orUndefined(turn.parallelToolCalls),
  };
}

function writeTool(tool: TurnTool, warn: Warn): JsonObject {
  const { parameters, strict } = toolSchema(tool, warn);
  return {
    type: "function",
    function: {
      name: shortToolName(tool.name),
      description: orUndefined(tool.description),
      parameters,
      strict: orUndefined(strict),
    },
  };
}

function writeChoice(choice: ToolChoice): unknown {
  if (choice.kind === "tool") return { type: "function", function: { name: shortToolName(choice.name) } };
  return choice.kind === "any" ? "required" : choice.kind;
}

/** "auto" is the default. */
function writeTier(tier: string | null, warn: Warn): string | null {
  if (tier === null || tier === "auto") return null;
  if (tier === "standard_only") return "default";
  if (tiers.has(tier)) return tier;
  warn("this service_tier is not understood by the upstream and was left out");
  return null;
}

const tiers: ReadonlySet<string> = new Set(["default", "flex", "scale", "priority", "fast"]);

/** The reasoning setting, and the tool choice that the model accepts with it. */
function reconcileToolChoice(
  turn: Turn,
  traits: ReasoningTraits,
  warn: Warn,
): { told: ReasoningSetting; choice: ToolChoice | null } {
  const told = fitReasoning(turn.reasoning, askedEffort(turn.reasoning), traits, warn);
  const choice = turn.toolChoice;
  if (turn.tools.length === 0 || (choice?.kind !== "any" && choice?.kind !== "tool")) return { told, choice };
  const { forcesNoToolsThinking: limit } = traits;
  const isTaken = limit === undefined || told.on === false || (limit === "named" && choice.kind === "any");
  if (isTaken) return { told, choice };
  if (traits.always !== true) {
    warn("thinking was switched off: a forced tool call excludes it");
    return { told: { effort: null, on: false }, choice };
  }
  if (limit !== "named") {
    warn("this model takes no choice that forces a tool: it was left to the model");
    return { told, choice: { kind: "auto" } };
  }
  if (turn.tools.length > 1)
    warn("this model takes no choice of one tool: it was left to the model which one it calls");
  return { told, choice: { kind: "any" } };
}

/** JSON mode requires the prompt to mention JSON, so a sentence is added if it does not. */
function writeFormat(turn: Turn, schemaUnderstood: boolean, warn: Warn) {
  const { format } = turn;
  if (format === null || format.kind === "text") return { responseFormat: undefined, instruction: null };
  if (format.kind === "schema" && schemaUnderstood) {
    return { responseFormat: { type: "json_schema", json_schema: writeNamedSchema(format) }, instruction: null };
  }
  const responseFormat = { type: "json_object" };
  if (format.kind === "schema") {
    warn("a schema for the answer is not understood by the upstream: JSON was asked for, and the schema in words");
    const instruction = `Answer with one JSON object that fits this JSON Schema:\n${JSON.stringify(format.schema)}`;
    return { responseFormat, instruction };
  }
  if (speaksOfJson(turn)) return { responseFormat, instruction: null };
  warn("the upstream wants JSON to be named in the prompt: a sentence was added to the instructions");
  return { responseFormat, instruction: "Answer with one JSON object." };
}

function speaksOfJson(turn: Turn): boolean {
  const named = (part: { readonly kind: string; readonly text?: string }): boolean =>
    part.kind === "text" && part.text !== undefined && /json/i.test(part.text);
  return turn.system.some(named) || turn.messages.some((message) => message.parts.some(named));
}

/** Only OpenAI's search models (gpt-4o-search-preview, gpt-5-search-api) and vendors with the trait accept `web_search_options`. */
export function searchesByOptions(upstreamModel: string, traits: DialectTraits): boolean {
  return traits.searchOptions ?? /search/i.test(upstreamModel);
}

function writeSearch(turn: Turn, searches: boolean, warn: Warn): JsonObject {
  const { search } = turn;
  if (search === undefined) return {};
  if (!searches) {
    warnOfNoSearch(turn, warn);
    return {};
  }
  warnOfSearchParameters(search, sentParameters, warn);
  return {
    web_search_options: {
      search_context_size: orUndefined(search.contextSize),
      user_location: search.location === null ? undefined : { type: "approximate", approximate: search.location },
    },
  };
}

const sentParameters: ReadonlySet<keyof SearchRequest> = new Set(["location", "contextSize"]);
