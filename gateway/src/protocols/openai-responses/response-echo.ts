import type { AnswerFormat, RequestedTurn, ToolChoice, TurnTool } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { customNames } from "../openai-chat/custom-tool.ts";
import { inNamespaces, isNamespaced } from "./namespaced-tool.ts";
import { isSearch } from "./search-tool.ts";

/** What a Response object says of the request it answers. Nothing is kept, and it says so. */
export function responseEcho({ turn, createdAt }: AnswerContext, id: string, model: string): JsonObject {
  const instructions = turn.system.map((part) => part.text).join("\n\n");
  return {
    id,
    object: "response",
    created_at: createdAt,
    model,
    background: false,
    store: false,
    previous_response_id: null,
    instructions: instructions === "" ? null : instructions,
    frequency_penalty: turn.frequencyPenalty ?? 0,
    max_output_tokens: turn.outputTokensMax,
    max_tool_calls: null,
    metadata: turn.metadata ?? {},
    parallel_tool_calls: turn.parallelToolCalls ?? true,
    presence_penalty: turn.presencePenalty ?? 0,
    prompt_cache_key: turn.cacheKey,
    reasoning: { effort: turn.reasoning?.effort ?? null, summary: turn.reasoning?.visible === true ? "auto" : null },
    safety_identifier: turn.userId,
    // What was used, not what was asked for: "auto" is none.
    service_tier: turn.serviceTier === null || turn.serviceTier === "auto" ? "default" : turn.serviceTier,
    temperature: turn.temperature ?? 1,
    text: {
      format: echoFormat(turn.format),
      ...(turn.verbosity === null ? {} : { verbosity: turn.verbosity }),
    },
    tool_choice: echoToolChoice(turn),
    tools: echoTools(turn),
    top_logprobs: 0,
    top_p: turn.topP ?? 1,
    truncation: "disabled",
    access_programs: null,
  };
}

function echoFormat(format: AnswerFormat | null): JsonObject {
  if (format === null || format.kind === "text") return { type: "text" };
  if (format.kind === "json") return { type: "json_object" };
  return {
    type: "json_schema",
    name: format.name ?? "answer",
    schema: format.schema,
    ...(format.description === null ? {} : { description: format.description }),
    strict: format.strict,
  };
}

function echoTools(turn: RequestedTurn): JsonObject[] {
  const custom = customNames(turn);
  return inNamespaces(turn.tools, (tool, name) => (custom.has(tool.name) ? echoCustom(tool, name) : echo(tool, name)));
}

function echo(tool: TurnTool, name: string): JsonObject {
  const { description, parameters, strict } = tool;
  if (isSearch(tool)) return { type: "tool_search", execution: "client", description, parameters };
  return { type: "function", name, description, parameters, strict: strict ?? false };
}

function echoCustom(tool: TurnTool, name: string): JsonObject {
  const description = tool.description === null ? {} : { description: tool.description };
  return { type: "custom", name, ...description, format: { type: "text" } };
}

function echoToolChoice(turn: RequestedTurn): string | JsonObject {
  const choice: ToolChoice = turn.toolChoice ?? { kind: "auto" };
  if (choice.kind !== "tool") return choice.kind === "any" ? "required" : choice.kind;
  const tool = turn.tools.find(({ name }) => name === choice.name);
  if (tool !== undefined && isSearch(tool)) return { type: "tool_search" };
  const type = customNames(turn).has(choice.name) ? "custom" : "function";
  return { type, name: tool !== undefined && isNamespaced(tool) ? tool.ownName : choice.name };
}
