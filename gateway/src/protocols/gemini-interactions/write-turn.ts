import type { ToolChoice, Turn } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { writeToolName } from "../gemini/encodings.ts";
import { seedOf, stopSequences, writeSearch } from "../gemini/write-turn.ts";
import { type JsonObject, jsonBytes, missingParam, unsupported, withoutNulls } from "../json/value.ts";
import { fitReasoning, requestedEffort } from "../turn/reasoning.ts";
import { effortWithin } from "../turn/reasoning-traits.ts";
import { warnOfUnsupported, writeTier } from "../turn/settings.ts";
import { warnOnce } from "../turn/warnings.ts";
import { isAgent } from "./agents.ts";
import { writeSteps } from "./write-steps.ts";

/** Nothing is stored, because the caller's API has no way to continue it. Cache hints, user id and metadata do not affect the answer. */
export function writeInteractionTurn(turn: Turn, target: TurnTarget, warn: Warn): Uint8Array {
  const warned = warnOnce(warn);
  const steps = writeSteps(turn.messages, target, warned);
  const instruction = turn.system
    .map(({ text }) => text)
    .filter((text) => text !== "")
    .join("\n\n");
  const { google } = turn;
  const body = withoutNulls({
    [isAgent(target.upstreamModel) ? "agent" : "model"]: target.upstreamModel,
    ...withInstruction(instruction, steps, warned),
    store: false,
    stream: turn.stream ? true : null,
    tools: writeTools(turn, warned),
    generation_config: writeConfig(turn, target, warned),
    response_format: writeFormats(turn, target, warned),
    service_tier: writeTier(turn.serviceTier, tiers, warned),
    cached_content: google?.cachedContent ?? null,
    safety_settings: writeSafety(turn),
  });
  return jsonBytes(body);
}

/** An input must not be empty, so instructions alone are sent as the user's. */
function withInstruction(instruction: string, steps: readonly JsonObject[], warn: Warn): JsonObject {
  if (steps.length > 0) return { input: steps, system_instruction: instruction === "" ? null : instruction };
  if (instruction === "") throw missingParam("messages");
  warn("instructions without a conversation were sent as user text");
  return { input: instruction };
}

/** The default tier has other names at other vendors. */
const tiers: Readonly<Record<string, string | null>> = {
  ...{ auto: null, default: null, unspecified: null },
  ...{ standard: "standard", flex: "flex", priority: "priority", deferred: "deferred" },
};

/** Gemini's other API has other names: `{category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE"}`. */
function writeSafety({ google }: Turn): readonly JsonObject[] | null {
  const settings = (google?.safetySettings ?? []).map(({ category, threshold, method, ...more }) =>
    withoutNulls({
      ...more,
      type: lowerWord(category, /^HARM_CATEGORY_/),
      threshold: lowerWord(threshold, /^$/),
      method: lowerWord(method, /^$/),
    }),
  );
  return settings.length === 0 ? null : settings;
}

function lowerWord(value: unknown, prefix: RegExp): unknown {
  return typeof value === "string" ? value.replace(prefix, "").toLowerCase() : value;
}

function writeTools(turn: Turn, warn: Warn): readonly JsonObject[] | null {
  const searches = writeSearch(turn, warn).length > 0 ? [{ type: "google_search" }] : [];
  if (turn.tools.length > 0 && turn.parallelToolCalls === false) {
    warn("parallel tool calls cannot be disabled at the upstream");
  }
  if (turn.tools.some((tool) => tool.strict === true)) {
    warn("strict tools are not supported by the upstream: arguments may not match the schema");
  }
  const functions = turn.tools.map(({ name, description, parameters }) =>
    withoutNulls({ type: "function", name: writeToolName(name), description, parameters }),
  );
  const tools = [...functions, ...searches];
  return tools.length === 0 ? null : tools;
}

/** Null if nothing is set. */
function writeConfig(turn: Turn, target: TurnTarget, warn: Warn): JsonObject | null {
  if (turn.choices > 1) throw unsupported("n", "The upstream returns only one answer.");
  warnOfUnsupported(turn, ["topK", "presencePenalty", "frequencyPenalty", "verbosity"], warn);
  const config = withoutNulls({
    max_output_tokens: turn.outputTokensMax,
    temperature: turn.temperature,
    top_p: turn.topP,
    seed: seedOf(turn.seed, warn),
    stop_sequences: stopSequences(turn.stop, warn),
    ...writeThinking(turn, target, warn),
    tool_choice: turn.tools.length === 0 || turn.toolChoice === null ? null : writeChoice(turn.toolChoice),
  });
  return Object.keys(config).length === 0 ? null : config;
}

/** There is no level for no thinking. */
function writeThinking({ reasoning }: Turn, { traits, upstreamModel }: TurnTarget, warn: Warn): JsonObject {
  const wanted = requestedEffort(reasoning);
  const { effort } = fitReasoning(reasoning, wanted, traits.reasoning ?? {}, warn);
  if (effort === "none") warn("thinking cannot be disabled on this model: the lowest level was used");
  const least = upstreamModel.includes("-pro") ? "low" : "minimal";
  return {
    thinking_level: effort === null ? null : effortWithin(effort, least, "xhigh"),
    thinking_summaries: reasoning?.visible === true ? "auto" : null,
  };
}

function writeChoice(choice: ToolChoice): string | JsonObject {
  if (choice.kind !== "tool") return choice.kind;
  return { allowed_tools: { mode: "any", tools: [writeToolName(choice.name)] } };
}

/** Null for plain text. */
function writeFormats(
  { format, pictures }: Turn,
  { traits }: TurnTarget,
  warn: Warn,
): readonly JsonObject[] | JsonObject | null {
  const text: JsonObject = { type: "text" };
  const json = { ...text, mime_type: "application/json" };
  let written: JsonObject | null = null;
  if (format?.kind === "json") written = json;
  else if (format?.kind === "schema") {
    written = traits.noSchemaOutput === true ? json : { ...json, schema: format.schema };
    if (traits.noSchemaOutput === true) {
      warn("the schema of the answer is not supported by the upstream: plain JSON was requested");
    }
  }
  return pictures === true ? [written ?? text, { type: "image" }] : written;
}
