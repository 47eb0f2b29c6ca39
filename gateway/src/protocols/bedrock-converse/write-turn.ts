import type { ReasoningRequest, ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, jsonBytes, unsupported, withoutNulls } from "../json/value.ts";
import { requestedEffort } from "../turn/reasoning.ts";
import { effortWithin, thinkingBudgets } from "../turn/reasoning-traits.ts";
import { closedSchema, flatSchema } from "../turn/schemas.ts";
import { jsonInstruction, warnOfUnsupported, writeTier } from "../turn/settings.ts";
import { isForced, shortToolName } from "../turn/tool-calls.ts";
import { notSupported, warnOnce } from "../turn/warnings.ts";
import { type ModelFamily, modelFamily, writeCachePoint, writeMessages } from "./write-messages.ts";

/** The model and streaming are in the path. User id and metadata have no field and do not affect the answer. */
export function writeConverseTurn(turn: Turn, target: TurnTarget, warnAlways: Warn): Uint8Array {
  const warn = warnOnce(warnAlways);
  if (turn.choices > 1) throw unsupported("n", "Only one answer at a time can be translated.");
  const family = modelFamily(target.upstreamModel);
  const format = writeFormat(turn, target.traits.noSchemaOutput !== true, warn);
  const messages = writeMessages(turn.messages, target, family, warn);
  if (messages.length === 0)
    throw unsupported("messages", "The upstream requires messages in addition to instructions.");
  const system = turn.system.flatMap((part) =>
    part.text.trim() === "" ? [] : [{ text: part.text }, ...writeCachePoint(part.cache, family)],
  );
  if (format.instruction !== null) system.push({ text: format.instruction });
  const lacking = ["search", "google", "pictures", "presencePenalty", "frequencyPenalty", "seed", "verbosity"] as const;
  warnOfUnsupported(turn, lacking, warn);
  if (turn.parallelToolCalls === false) warn("parallel tool calls cannot be disabled at the upstream");
  const body: JsonObject = {
    messages,
    ...(system.length === 0 ? {} : { system }),
    ...memberUnlessEmpty("inferenceConfig", {
      maxTokens: turn.outputTokensMax,
      temperature: turn.temperature,
      topP: turn.topP,
      stopSequences: turn.stop.length === 0 ? null : turn.stop,
    }),
    ...memberUnlessEmpty("toolConfig", writeTools(turn, family, warn)),
    // Converse passes these on to the model.
    ...memberUnlessEmpty("additionalModelRequestFields", {
      ...writeTopK(turn.topK, family, warn),
      ...writeReasoning(turn, family, warn),
    }),
    ...memberUnlessEmpty("outputConfig", format.outputConfig),
    ...memberUnlessEmpty("serviceTier", { type: writeTier(turn.serviceTier, tiers, warn) }),
  };
  return jsonBytes(body);
}

function memberUnlessEmpty(name: string, value: JsonObject): JsonObject {
  const members = withoutNulls(value);
  return Object.keys(members).length === 0 ? {} : { [name]: members };
}

function writeFormat({ format }: Turn, schemaUnderstood: boolean, warn: Warn) {
  if (format === null || format.kind === "text") return { outputConfig: {}, instruction: null };
  if (format.kind === "json" || !schemaUnderstood) {
    const what = format.kind === "json" ? "the upstream has no JSON mode: JSON" : "the schema of the answer";
    warn(`${what} was requested in the instructions`);
    return { outputConfig: {}, instruction: jsonInstruction(format) };
  }
  const { name, description } = format;
  const jsonSchema = withoutNulls({ schema: JSON.stringify(format.schema), name, description });
  return { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } }, instruction: null };
}

const tiers: Readonly<Record<string, string | null>> = {
  ...{ auto: null, default: "default", flex: "flex", priority: "priority", reserved: "reserved" },
};

function writeTopK(topK: number | null, family: ModelFamily, warn: Warn): JsonObject {
  if (topK === null) return {};
  if (family === "claude") return { top_k: topK };
  if (family === "nova") return { inferenceConfig: { topK } };
  warn(notSupported("top_k"));
  return {};
}

function writeReasoning(turn: Turn, family: ModelFamily, warn: Warn): JsonObject {
  const requested = turn.reasoning;
  if (requested === null || (requested.effort === null && requested.budgetTokens === null)) return {};
  if (family === "claude") return writeThinking(requested, turn.outputTokensMax, warn);
  const effort = requestedEffort(requested);
  if (family === "gpt-oss" && effort !== null) return { reasoning_effort: effortWithin(effort, "low", "high") };
  if (requested.effort !== "none") warn(notSupported("the request to reason"));
  return {};
}

const budgetMin = 1_024;

/** The budget must be at least 1024 and below the output cap. */
function writeThinking(requested: ReasoningRequest, outputTokensMax: number | null, warn: Warn): JsonObject {
  const wanted = requested.budgetTokens ?? thinkingBudgets[requested.effort ?? "none"];
  if (wanted === 0) return { thinking: { type: "disabled" } };
  const most = outputTokensMax === null ? wanted : outputTokensMax - 1;
  const budget = Math.max(budgetMin, Math.min(wanted, most));
  if (budget > most) {
    warn("thinking needs a larger cap on output and was dropped");
    return {};
  }
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

/** Converse cannot forbid tools, so they are left out, except for those of earlier calls, which must be declared. */
function writeTools(turn: Turn, family: ModelFamily, warn: Warn): JsonObject {
  const parts = turn.messages.flatMap((message) => message.parts);
  const called = new Set(parts.flatMap((part) => (part.kind === "tool-call" ? [part.name] : [])));
  const forbidden = turn.toolChoice?.kind === "none";
  if (forbidden && called.size === 0) return {};
  if (turn.tools.length === 0 && called.size === 0) {
    if (isForced(turn.toolChoice)) warn("tool_choice without tools was dropped");
    return {};
  }
  if (forbidden) warn("tool calls cannot be disabled at the upstream, because the conversation contains some");
  const written = turn.tools.flatMap((tool) => writeTool(tool, family, warn));
  const bareTool = (name: string) => ({ name: shortToolName(name), inputSchema: { json: { type: "object" } } });
  const tools = written.length > 0 ? written : [...called].map((name) => ({ toolSpec: bareTool(name) }));
  return { tools, toolChoice: forbidden || turn.tools.length === 0 ? null : writeChoice(turn.toolChoice) };
}

function writeTool(tool: TurnTool, family: ModelFamily, warn: Warn): JsonObject[] {
  const { description, parameters, strict, cache } = tool;
  const schema = flatSchema(parameters, warn);
  const toolSpec = {
    name: shortToolName(tool.name),
    // Empty descriptions are refused.
    ...(description === null || description === "" ? {} : { description }),
    inputSchema: { json: strict === true && family === "claude" ? closedSchema(schema) : schema },
    ...(strict === true ? { strict } : {}),
  };
  return [{ toolSpec }, ...writeCachePoint(cache, family)];
}

function writeChoice(choice: ToolChoice | null): JsonObject | null {
  if (choice === null || choice.kind === "none") return null;
  return { [choice.kind]: choice.kind === "tool" ? { name: shortToolName(choice.name) } : {} };
}
