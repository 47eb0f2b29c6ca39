import { Conversation } from "../conversation.ts";
import { Refusal } from "../dialect.ts";
import {
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseObject,
  stringOf,
  textsOf,
} from "../json-body.ts";
import type { ParsedRequest, RequestedTool } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitModel } from "../script-source.ts";
import { chooseCalls, type ToolRequest } from "../tool-choice.ts";
import { type MessagesFacts, refuseOptions } from "./anthropic-option-rules.ts";
import { refuseMessages } from "./anthropic-rules.ts";
import { betasOf, bindingOfAnswer, movedThinking, type ThinkingBinding } from "./thinking-binding.ts";

export interface MessagesRequest {
  readonly parsed: ParsedRequest;
  /** False if thinking blocks are returned empty, with their signature. */
  readonly thinkingShown: boolean;
  readonly stops: readonly string[];
  /** The content that the answer's thinking is bound to. */
  readonly thinkingBinding: ThinkingBinding;
  /** Positions of the thinking blocks that were removed from the request. */
  readonly moved: readonly string[];
}

/** Parses and checks a Messages request, with errors in the vendor's order. */
export function readMessages(request: SimulatorRequest, facts: MessagesFacts): MessagesRequest {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "The request body is not valid JSON: it must be an object");
  const model = facts.model ?? stringOf(body["model"]);
  if (model === "") throw new Refusal(400, "model: Field required");
  refuseOptions(body, facts);
  refuseMessages(body, facts.version);
  const moved = movedThinking(body, betasOf(request.headers, body));
  const modelParts = splitModel(model);
  const conversation = converse(body);
  const thinking = objectOf(body["thinking"]);
  const stops = Array.isArray(body["stop_sequences"]) ? body["stop_sequences"].map(stringOf) : [];
  return {
    parsed: {
      model: modelParts.model,
      stream: facts.stream === null ? body["stream"] === true : facts.stream === true,
      prompt: conversation.last,
      promptTokens: conversation.words,
      outputMax: countOf(body["max_tokens"]) ?? Number.POSITIVE_INFINITY,
      choices: 1,
      ...chooseCalls(objectsOf(body["tools"]).flatMap(toolOf), toolRequestOf(body["tool_choice"]), conversation),
      schema: schemaOf(body),
      thinks: thinking["type"] === "enabled" || thinking["type"] === "adaptive" || thinking["type"] === "between_tools",
      image: null,
      script: { ...modelParts.script, ...conversation.script },
    },
    thinkingShown: thinking["display"] !== "omitted",
    stops,
    thinkingBinding: bindingOfAnswer(modelParts.model, body),
    moved,
  };
}

/** A user message counts as its tool results followed by its own text, as other dialects send it. */
function converse(body: JsonObject): Conversation {
  const conversation = new Conversation();
  const system = textsOf(body["system"]);
  if (system.length > 0) conversation.add("system", system);
  for (const { role, content } of objectsOf(body["messages"])) {
    const results = objectsOf(content).filter((block) => block["type"] === "tool_result");
    for (const result of results) conversation.add("tool", textsOf(result["content"]));
    const hasText = typeof content === "string" || objectsOf(content).length > results.length;
    if (!hasText) continue;
    conversation.add(role === "assistant" || role === "system" ? role : "user", textsOf(content));
  }
  return conversation;
}

/** The caller's own tools; the vendor's server tools are never called. */
function toolOf(tool: JsonObject): readonly RequestedTool[] {
  const isCustom = tool["type"] === undefined || tool["type"] === null || tool["type"] === "custom";
  if (!isCustom || typeof tool["name"] !== "string") return [];
  return [{ kind: "function", name: tool["name"], parameters: tool["input_schema"] ?? { type: "object" } }];
}

function toolRequestOf(choice: unknown): ToolRequest {
  const { type, name, disable_parallel_tool_use: alone } = objectOf(choice);
  const mode = type === "none" ? "none" : type === "any" || type === "tool" ? "required" : "auto";
  return { mode, forced: type === "tool" ? stringOf(name) : null, parallel: alone !== true };
}

function schemaOf(body: JsonObject): unknown {
  const format = objectOf(body["output_config"])["format"] ?? body["output_format"];
  return isObject(format) && format["type"] === "json_schema" ? (format["schema"] ?? null) : null;
}
