import type { SearchRequest, ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { DialectTraits, TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, jsonBytes, orUndefined, unsupported } from "../json/value.ts";
import {
  fitReasoning,
  fitToolChoice,
  openaiSampling,
  type ReasoningSetting,
  refusesStop,
  requestedEffort,
} from "../turn/reasoning.ts";
import type { ReasoningTraits } from "../turn/reasoning-traits.ts";
import { toolSchema, writeNamedSchema } from "../turn/schemas.ts";
import { warnOfSearchParameters } from "../turn/search-request.ts";
import { jsonInstruction, warnOfUnsupported, writeTier } from "../turn/settings.ts";
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
  const { setting: reasoning, choice } = reconcileToolChoice(turn, traits.reasoning ?? {}, warn);
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
    service_tier: orUndefined(writeTier(turn.serviceTier, tiers, warn)),
    ...writeSearch(turn, searchesByOptions(target.upstreamModel, target.traits), warn),
    modalities: turn.pictures === true ? ["text", "image"] : undefined,
  };
  // OpenAI accepts metadata only for stored answers.
  warnOfUnsupported(turn, ["google", "topK", "metadata"], warn);
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

function writeStop(stop: readonly string[], isRefused: boolean, warn: Warn): readonly string[] | undefined {
  if (stop.length === 0) return undefined;
  if (isRefused) {
    warn("stop sequences are refused by a model that reasons and were dropped");
    return undefined;
  }
  if (stop.length > stopsMax) warn(`stop sequences after the first ${stopsMax} were dropped`);
  return stop.slice(0, stopsMax);
}

/** OpenAI refuses a tool choice and parallel_tool_calls without tools. */
function writeTools(turn: Turn, choice: ToolChoice | null, warn: Warn): JsonObject {
  if (turn.tools.length === 0) {
    if (choice?.kind === "any" || choice?.kind === "tool") warn("tool_choice without tools was dropped");
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
const tiers: Readonly<Record<string, string | null>> = {
  ...{ auto: null, standard_only: "default" },
  ...{ default: "default", flex: "flex", scale: "scale", priority: "priority", fast: "fast" },
};

/** The reasoning setting, and the tool choice that the model accepts with it. */
function reconcileToolChoice(
  turn: Turn,
  traits: ReasoningTraits,
  warn: Warn,
): { setting: ReasoningSetting; choice: ToolChoice | null } {
  const setting = fitReasoning(turn.reasoning, requestedEffort(turn.reasoning), traits, warn);
  const choice = turn.toolChoice;
  if (turn.tools.length === 0 || (choice?.kind !== "any" && choice?.kind !== "tool")) return { setting, choice };
  const { forcesNoToolsThinking: limit } = traits;
  const isAccepted = limit === undefined || setting.on === false || (limit === "named" && choice.kind === "any");
  if (isAccepted) return { setting, choice };
  if (traits.always === true) return { setting, choice: fitToolChoice(turn, traits, warn) };
  warn("thinking was disabled: a forced tool choice excludes it");
  return { setting: { effort: null, on: false }, choice };
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
    warn("the schema of the answer is not supported by the upstream and was put into the instructions");
    return { responseFormat, instruction: jsonInstruction(format) };
  }
  if (speaksOfJson(turn)) return { responseFormat, instruction: null };
  warn("the upstream requires the prompt to mention JSON: a sentence was added to the instructions");
  return { responseFormat, instruction: jsonInstruction(format) };
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
    warnOfUnsupported(turn, ["search"], warn);
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
