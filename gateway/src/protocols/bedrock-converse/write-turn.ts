import type { ReasoningRequest, ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { leaveGoogleExtras } from "../gemini/google-extras.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { askedEffort } from "../turn/reasoning.ts";
import { thinkingBudgets } from "../turn/reasoning-traits.ts";
import { closedSchema, flatSchema } from "../turn/schemas.ts";
import { warnOfNoSearch } from "../turn/search-request.ts";
import { shortToolName } from "../turn/tool-calls.ts";
import { picturesLost, warnOnce } from "../turn/warnings.ts";
import { type ModelFamily, modelFamily, writeCachePoint, writeMessages } from "./write-messages.ts";

/**
 * A turn as the body of a Converse request. The model and whether it streams are in the path. The user's id and
 * metadata have no place there and change nothing of the answer.
 */
export function writeConverseTurn(turn: Turn, target: TurnTarget, warnAlways: Warn): Uint8Array {
  const warn = warnOnce(warnAlways);
  if (turn.choices > 1) throw unsupported("n", "Only one answer at a time can be translated.");
  const family = modelFamily(target.upstreamModel);
  const format = writeFormat(turn, target.traits.noSchemaOutput !== true, warn);
  const messages = writeMessages(turn.messages, target, family, warn);
  if (messages.length === 0)
    throw unsupported("messages", "The upstream wants a conversation beside its instructions.");
  const system = turn.system.flatMap((part) =>
    part.text.trim() === "" ? [] : [{ text: part.text }, ...writeCachePoint(part.cache, family)],
  );
  if (format.instruction !== null) system.push({ text: format.instruction });
  warnOfLosses(turn, warn);
  const body: JsonObject = {
    messages,
    ...(system.length === 0 ? {} : { system }),
    ...said("inferenceConfig", {
      maxTokens: turn.outputTokensMax ?? undefined,
      temperature: turn.temperature ?? undefined,
      topP: turn.topP ?? undefined,
      stopSequences: turn.stop.length === 0 ? undefined : turn.stop,
    }),
    ...said("toolConfig", writeTools(turn, family, warn)),
    ...said("additionalModelRequestFields", writeModelFields(turn, family, warn)),
    ...said("outputConfig", format.outputConfig),
    ...serviceTier(turn.serviceTier, warn),
  };
  return encoder.encode(JSON.stringify(body));
}

/** Nothing for an object that says nothing. */
function said(name: string, value: JsonObject): JsonObject {
  return Object.values(value).some((member) => member !== undefined) ? { [name]: value } : {};
}

interface WrittenFormat {
  readonly outputConfig: JsonObject;
  /** What must be said in the instructions in its place. */
  readonly instruction: string | null;
}

function writeFormat({ format }: Turn, schemaUnderstood: boolean, warn: Warn): WrittenFormat {
  if (format === null || format.kind === "text") return { outputConfig: {}, instruction: null };
  if (format.kind === "json") {
    warn("the upstream has no JSON mode: JSON was asked for in words");
    return { outputConfig: {}, instruction: "Answer with one JSON object and nothing else." };
  }
  const schema = JSON.stringify(format.schema);
  if (!schemaUnderstood) {
    warn("a schema for the answer is not understood by the upstream: it was asked for in words");
    const instruction = `Answer with one JSON object, and nothing else, that fits this JSON Schema:\n${schema}`;
    return { outputConfig: {}, instruction };
  }
  const jsonSchema = {
    schema,
    ...(format.name === null ? {} : { name: format.name }),
    ...(format.description === null ? {} : { description: format.description }),
  };
  return { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } }, instruction: null };
}

function warnOfLosses(turn: Turn, warn: Warn): void {
  warnOfNoSearch(turn, warn);
  leaveGoogleExtras(turn, warn);
  if (turn.pictures === true) warn(picturesLost);
  if (turn.presencePenalty !== null) warn("presence_penalty is not understood by the upstream and was left out");
  if (turn.frequencyPenalty !== null) warn("frequency_penalty is not understood by the upstream and was left out");
  if (turn.seed !== null) warn("seed is not understood by the upstream and was left out");
  if (turn.verbosity !== null) warn("verbosity is not understood by the upstream and was left out");
  if (turn.parallelToolCalls === false) warn("the upstream cannot be kept from calling several tools at once");
}

const tiers: ReadonlySet<string> = new Set(["default", "flex", "priority", "reserved"]);

function serviceTier(tier: string | null, warn: Warn): JsonObject {
  if (tier === null || tier === "auto") return {};
  if (tiers.has(tier)) return { serviceTier: { type: tier } };
  warn("this service_tier is not understood by the upstream and was left out");
  return {};
}

const encoder = new TextEncoder();

/** Parameters that Converse has no name for, as each maker calls them. */
function writeModelFields(turn: Turn, family: ModelFamily, warn: Warn): JsonObject {
  return { ...writeTopK(turn.topK, family, warn), ...writeReasoning(turn, family, warn) };
}

function writeTopK(topK: number | null, family: ModelFamily, warn: Warn): JsonObject {
  if (topK === null) return {};
  if (family === "claude") return { top_k: topK };
  if (family === "nova") return { inferenceConfig: { topK } };
  warn("top_k is not understood by the upstream and was left out");
  return {};
}

function writeReasoning(turn: Turn, family: ModelFamily, warn: Warn): JsonObject {
  const requested = turn.reasoning;
  if (requested === null || (requested.effort === null && requested.budgetTokens === null)) return {};
  if (family === "claude") return writeThinking(requested, turn.outputTokensMax, warn);
  const effort = askedEffort(requested);
  if (family === "gpt-oss" && effort !== null) return { reasoning_effort: gptOssEfforts[effort] };
  if (requested.effort !== "none") warn("the request to reason is not understood by the upstream and was left out");
  return {};
}

type Effort = NonNullable<ReasoningRequest["effort"]>;

const gptOssEfforts: Readonly<Record<Effort, string>> = {
  none: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

const budgetMin = 1_024;

/** The budget must be at least 1024 and leave room below the cap on output. */
function writeThinking(requested: ReasoningRequest, outputTokensMax: number | null, warn: Warn): JsonObject {
  const wanted = requested.budgetTokens ?? thinkingBudgets[requested.effort ?? "none"];
  if (wanted === 0) return { thinking: { type: "disabled" } };
  const most = outputTokensMax === null ? wanted : outputTokensMax - 1;
  const budget = Math.max(budgetMin, Math.min(wanted, most));
  if (budget > most) {
    warn("thinking needs a larger cap on output and was left out");
    return {};
  }
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

/**
 * Tools and the choice among them. Converse knows no choice of none: the tools are left out then. It refuses a
 * conversation with calls but without tools, so those that were called are named at least.
 */
function writeTools(turn: Turn, family: ModelFamily, warn: Warn): JsonObject {
  const called = calledNames(turn);
  const forbidden = turn.toolChoice?.kind === "none";
  if (forbidden && called.size === 0) return {};
  if (turn.tools.length === 0 && called.size === 0) {
    if (turn.toolChoice?.kind === "any" || turn.toolChoice?.kind === "tool")
      warn("tool_choice without tools was left out");
    return {};
  }
  if (forbidden) warn("the upstream cannot be kept from calling tools: the conversation holds calls already");
  const known = new Set(turn.tools.map((tool) => tool.name));
  const missing = turn.tools.length > 0 ? [] : [...called].filter((name) => !known.has(name)).map(bareTool);
  const tools = [...turn.tools.flatMap((tool) => writeTool(tool, family, warn)), ...missing];
  return { tools, toolChoice: forbidden || turn.tools.length === 0 ? undefined : writeChoice(turn.toolChoice) };
}

function calledNames(turn: Turn): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { parts } of turn.messages) {
    for (const part of parts) if (part.kind === "tool-call") names.add(part.name);
  }
  return names;
}

function writeTool(tool: TurnTool, family: ModelFamily, warn: Warn): JsonObject[] {
  const { description, parameters, strict, cache } = tool;
  const schema = flatSchema(parameters, warn);
  const toolSpec = {
    name: shortToolName(tool.name),
    // An empty description is refused.
    ...(description === null || description === "" ? {} : { description }),
    inputSchema: { json: strict === true && family === "claude" ? closedSchema(schema) : schema },
    ...(strict === true ? { strict } : {}),
  };
  return [{ toolSpec }, ...writeCachePoint(cache, family)];
}

function bareTool(name: string): JsonObject {
  return { toolSpec: { name: shortToolName(name), inputSchema: { json: { type: "object" } } } };
}

function writeChoice(choice: ToolChoice | null): JsonObject | undefined {
  switch (choice?.kind) {
    case "auto":
      return { auto: {} };
    case "any":
      return { any: {} };
    case "tool":
      return { tool: { name: shortToolName(choice.name) } };
    default:
      return undefined;
  }
}
