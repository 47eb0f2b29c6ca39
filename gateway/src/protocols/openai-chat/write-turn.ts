import type { ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { DialectTraits, TurnTarget, Warn } from "../codec.ts";
import { leaveGoogleExtras } from "../google-extras.ts";
import { type JsonObject, unsupported } from "../json-value.ts";
import { toolSchema } from "../object-schema.ts";
import { openaiSampling, refusesStop } from "../openai-sampling.ts";
import type { ToldReasoning } from "../told-reasoning.ts";
import { shortToolName } from "../tool-names.ts";
import { warnOnce } from "../warn-once.ts";
import { reasonAndChoose } from "./forced-tools.ts";
import { shortId, userIdCharactersMax } from "./short-id.ts";
import { writeFormat } from "./write-format.ts";
import { writeMessages } from "./write-messages.ts";
import { searchesByOptions, writeSearch } from "./write-search.ts";

/** OpenAI takes no more. */
const stopsMax = 4;

/** A turn as a chat-completions request. Throws Failure unsupported_by_model for what it cannot carry honestly. */
export function writeChatTurn(turn: Turn, target: TurnTarget, warnAlways: Warn): Uint8Array {
  const warn = warnOnce(warnAlways);
  if (turn.choices > 1) throw unsupported("n", "Only one answer at a time can be translated.");
  const format = writeFormat(turn, target.traits.noSchemaOutput !== true, warn);
  const instructions = turn.system.map((part) => part.text);
  if (format.instruction !== null) instructions.push(format.instruction);
  const { traits } = target;
  const { told, choice } = reasonAndChoose(turn, traits.reasoning ?? {}, warn);
  const sampling = openaiSampling(turn, traits, told.effort, warn);
  const request: JsonObject = {
    model: target.upstreamModel,
    messages: writeMessages(turn, target, { instructions, thinks: told.on !== false && told.effort !== "none" }, warn),
    ...(turn.stream ? { stream: true } : {}),
    ...(turn.stream && traits.noStreamOptions !== true ? { stream_options: { include_usage: true } } : {}),
    ...writeTools(turn, choice, warn),
    [target.traits.outputCapName ?? "max_completion_tokens"]: said(turn.outputTokensMax),
    temperature: said(sampling.temperature),
    top_p: said(sampling.topP),
    presence_penalty: said(sampling.presencePenalty),
    frequency_penalty: said(sampling.frequencyPenalty),
    seed: said(turn.seed),
    stop: writeStop(turn.stop, refusesStop(traits, told.effort), warn),
    response_format: format.responseFormat,
    ...writeReasoning(turn, told, traits),
    verbosity: said(turn.verbosity),
    user: turn.userId === null ? undefined : shortId(turn.userId, "user_", userIdCharactersMax),
    service_tier: said(writeTier(turn.serviceTier, warn)),
    ...writeSearch(turn, searchesByOptions(target.upstreamModel, target.traits), warn),
    modalities: turn.pictures === true ? ["text", "image"] : undefined,
  };
  warnOfLosses(turn, warn);
  return encoder.encode(JSON.stringify(request));
}

function writeReasoning({ reasoning }: Turn, { effort, on }: ToldReasoning, traits: DialectTraits): JsonObject {
  const { switch: by } = traits.reasoning ?? {};
  return {
    reasoning_effort: said(effort),
    ...(by === "thinking" && on !== null ? { thinking: { type: on ? "enabled" : "disabled" } } : {}),
    ...(by === "enable_thinking" && on !== null ? { enable_thinking: on } : {}),
    ...(by === "enable_thinking" && on === true ? { thinking_budget: said(reasoning?.budgetTokens ?? null) } : {}),
  };
}

/** JSON.stringify leaves undefined members out. */
function said<T>(value: T | null): T | undefined {
  return value ?? undefined;
}

function warnOfLosses(turn: Turn, warn: Warn): void {
  leaveGoogleExtras(turn, warn);
  if (turn.topK !== null) warn("top_k is not understood by the upstream and was left out");
  if (turn.metadata !== null && Object.keys(turn.metadata).length > 0) {
    // OpenAI takes it for stored answers only, and refuses it otherwise.
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

/** A choice without tools, and parallel_tool_calls without tools, are refused by OpenAI. */
function writeTools(turn: Turn, choice: ToolChoice | null, warn: Warn): JsonObject {
  if (turn.tools.length === 0) {
    if (choice?.kind === "any" || choice?.kind === "tool") warn("tool_choice without tools was left out");
    return {};
  }
  return {
    tools: turn.tools.map((tool) => writeTool(tool, warn)),
    tool_choice: choice === null ? undefined : writeChoice(choice),
    parallel_tool_calls: said(turn.parallelToolCalls),
  };
}

function writeTool(tool: TurnTool, warn: Warn): JsonObject {
  const { parameters, strict } = toolSchema(tool, warn);
  return {
    type: "function",
    function: {
      name: shortToolName(tool.name),
      description: said(tool.description),
      parameters,
      strict: said(strict),
    },
  };
}

function writeChoice(choice: ToolChoice): unknown {
  if (choice.kind === "tool") return { type: "function", function: { name: shortToolName(choice.name) } };
  return choice.kind === "any" ? "required" : choice.kind;
}

/** Tiers by the names that vendors of this dialect know; "auto" is what happens anyway. */
function writeTier(tier: string | null, warn: Warn): string | null {
  if (tier === null || tier === "auto") return null;
  if (tier === "standard_only") return "default";
  if (tiers.has(tier)) return tier;
  warn("this service_tier is not understood by the upstream and was left out");
  return null;
}

const tiers: ReadonlySet<string> = new Set(["default", "flex", "scale", "priority", "fast"]);

const encoder = new TextEncoder();
