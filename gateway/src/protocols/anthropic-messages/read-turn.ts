import type { AnswerFormat, ReasoningRequest, TextPart, ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import {
  arrayMember,
  arrayOf,
  booleanOf,
  countMember,
  countOf,
  expectText,
  invalid,
  isObject,
  type JsonObject,
  missingParam,
  numberMember,
  objectOf,
  parseBody,
  textMember,
  textOf,
  unsupported,
} from "../json/value.ts";
import { readCacheControl } from "../turn/prompt-cache.ts";
import { isAbsent, notSupported, warnOfUnsentMembers } from "../turn/warnings.ts";
import { readMessages } from "./read-messages.ts";
import { isWebSearch, readWebSearch } from "./write-turn.ts";

/** Reads a messages request. Source: Anthropic API reference, "Create a Message", with its betas. */
export function readMessagesTurn(body: Uint8Array, facts: { readonly stream: boolean }, warn: Warn): Turn {
  const request = parseBody(body);
  const messages = arrayMember(request, "messages");
  if (messages === null) throw missingParam("messages");
  if (messages.length === 0) throw invalid("messages", "must contain at least one message");
  const config = objectOf(request["output_config"]);
  warnOfUnknownMembers(request, warn);
  warnOfUnsentMembers(config, outputMembers, "output_config", warn);
  warnOfUnsentMembers(objectOf(request["thinking"]), thinkingMembers, "thinking", warn);
  return {
    stream: facts.stream,
    system: readSystem(request["system"]),
    messages: readMessages(messages, warn),
    ...readTools(request, warn),
    outputTokensMax: countMember(request, "max_tokens"),
    temperature: numberMember(request, "temperature"),
    topP: numberMember(request, "top_p"),
    topK: numberMember(request, "top_k"),
    presencePenalty: null,
    frequencyPenalty: null,
    seed: null,
    stop: (arrayMember(request, "stop_sequences") ?? []).map((stop, at) => expectText(stop, `stop_sequences.${at}`)),
    choices: 1,
    format: readFormat(config["format"] ?? request["output_format"], warn),
    reasoning: readReasoning(objectOf(request["thinking"]), config["effort"], warn),
    verbosity: null,
    userId: textOf(objectOf(request["metadata"])["user_id"]),
    metadata: null,
    cacheKey: null,
    // The neutral form uses OpenAI's names.
    serviceTier: textMember(request, "service_tier")?.replace(/^standard_only$/, "default") ?? null,
  };
}

const outputMembers: ReadonlySet<string> = new Set(["effort", "format"]);
const thinkingMembers: ReadonlySet<string> = new Set(["type", "budget_tokens", "display"]);

const requestMembers: ReadonlySet<string> = new Set([
  ...["model", "messages", "max_tokens", "system", "stream", "stop_sequences", "temperature", "top_p", "top_k"],
  ...["tools", "tool_choice", "thinking", "output_config", "output_format", "metadata", "service_tier"],
  // Only useful at Anthropic (caching, telemetry, billing, versions).
  ...["cache_control", "betas", "anthropic_beta", "anthropic_version", "diagnostics", "fallback_credit_token"],
]);

/** The first call of a thread holds the whole conversation. */
export const threadDropped = "the upstream keeps no threads: thread was dropped, and it cannot be continued";

/** Throws Failure unsupported_by_model for a thread that is not in the request. */
function warnOfUnknownMembers({ thread, speed, billing_policy, ...others }: JsonObject, warn: Warn): void {
  if ((thread ?? null) !== null) {
    if (objectOf(thread)["type"] !== "create") throw unsupported("thread", "The upstream keeps no threads.");
    warn(threadDropped);
  }
  const isOwnBill = objectOf(billing_policy)["bill_to"] === "self";
  const sent = { ...others, ...(isOwnBill ? {} : { billing_policy }), ...(speed === "standard" ? {} : { speed }) };
  const isEmpty = (value: unknown) => isAbsent(value) || (Array.isArray(value) && value.length === 0);
  warnOfUnsentMembers(sent, requestMembers, "", warn, isEmpty);
}

/** A line of telemetry that Claude Code adds to the instructions. */
const attribution = "x-anthropic-billing-header:";

function readSystem(system: unknown): TextPart[] {
  if (system === undefined || system === null || system === "") return [];
  if (typeof system === "string") return [{ kind: "text", text: system, cache: null }];
  if (!Array.isArray(system)) throw invalid("system", "must be a string or an array of text blocks");
  return system.flatMap((value, index) => {
    const block = objectOf(value);
    const text = textOf(block["text"]);
    if (block["type"] !== "text" || text === null) throw invalid(`system.${index}`, "must be a text block");
    if (text === "" || text.startsWith(attribution)) return [];
    return [{ kind: "text" as const, text, cache: readCacheControl(block) }];
  });
}

function readFormat(format: unknown, warn: Warn): AnswerFormat | null {
  if (!isObject(format)) return null;
  const { type, schema } = format;
  if (type === "json_schema" && isObject(schema)) {
    return { kind: "schema", name: textOf(format["name"]), description: null, schema, strict: null };
  }
  if (type === "json_schema") throw invalid("output_config.format.schema", "must be an object");
  warn("the format of output_config is not supported and was dropped");
  return null;
}

const efforts = ["low", "medium", "high", "xhigh", "max"] as const;

function readReasoning(thinking: JsonObject, effortSaid: unknown, warn: Warn): ReasoningRequest | null {
  const effort = efforts.find((one) => one === effortSaid) ?? null;
  if (effort === null && (effortSaid ?? null) !== null) warn("the effort is unknown and was dropped");
  const visible = thinking["display"] !== "omitted";
  switch (thinking["type"] ?? null) {
    case "enabled":
      return { effort, budgetTokens: countOf(thinking["budget_tokens"]), visible };
    case "adaptive":
    case "between_tools":
      return { effort, budgetTokens: null, visible };
    case "disabled":
      return { effort: "none", budgetTokens: null, visible: false };
    case null:
      return effort === null ? null : { effort, budgetTokens: null, visible: false };
    default:
      warn("the type of thinking is unknown and was dropped");
      return null;
  }
}

function readTools(request: JsonObject, warn: Warn) {
  const tools = (arrayMember(request, "tools") ?? []).flatMap((tool, index) => readTool(tool, `tools.${index}`, warn));
  const choice = objectOf(request["tool_choice"]);
  const search = readWebSearch(request["tools"], warn);
  const disabled = booleanOf(choice["disable_parallel_tool_use"]);
  return {
    tools,
    toolChoice: readChoice(choice, tools, warn),
    parallelToolCalls: disabled === null ? null : !disabled,
    ...(search === null ? {} : { search }),
  };
}

function readTool(tool: unknown, param: string, warn: Warn): TurnTool[] {
  if (!isObject(tool)) throw invalid(param, "must be an object");
  const type = tool["type"] ?? "custom";
  // Read by readWebSearch.
  if (isWebSearch(type)) return [];
  if (type !== "custom") {
    // Anthropic's own tools have no schema, so other models cannot use them.
    const named = typeof type === "string" && /^[a-z0-9_]{1,64}$/.test(type) ? `the tool ${type}` : "a typed tool";
    warn(notSupported(`${named}`));
    return [];
  }
  const name = expectText(tool["name"], `${param}.name`);
  const schema = tool["input_schema"] ?? null;
  if (schema !== null && !isObject(schema)) throw invalid(`${param}.input_schema`, "must be an object");
  warnOfUnsentMembers(tool, toolMembers, "a tool", warn);
  const callers = arrayOf(tool["allowed_callers"]);
  if (callers.some((caller) => caller !== "direct")) {
    warn(notSupported("allowed_callers of a tool"));
  }
  const description = textOf(tool["description"]);
  return [{ name, description, parameters: schema, strict: booleanOf(tool["strict"]), cache: readCacheControl(tool) }];
}

const toolMembers: ReadonlySet<string> = new Set([
  ...["type", "name", "description", "input_schema", "strict", "cache_control"],
  ...["allowed_callers", "eager_input_streaming"],
]);

function readChoice(choice: JsonObject, tools: readonly TurnTool[], warn: Warn): ToolChoice | null {
  const type = choice["type"] ?? null;
  if (type === null || type === "auto" || type === "none") return type === null ? null : { kind: type };
  if (type === "any") {
    if (tools.length > 0) return { kind: "any" };
    warn("tool_choice was dropped: none of its tools is supported by the upstream");
    return null;
  }
  if (type !== "tool") throw invalid("tool_choice.type", "must be auto, any, tool or none");
  const name = expectText(choice["name"], "tool_choice.name");
  if (tools.some((tool) => tool.name === name)) return { kind: "tool", name };
  warn("tool_choice was dropped: its tool is not supported by the upstream");
  return null;
}
