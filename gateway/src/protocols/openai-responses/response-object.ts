import type { AnswerFormat, RequestedTurn, ToolChoice, TurnTool } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { type JsonObject, withoutNulls } from "../json/value.ts";
import { customNames } from "../openai-chat/custom-tool.ts";
import { groupByNamespace, isNamespaced, isSearch } from "./tool-kinds.ts";

/** Members equal in all responses of the gateway, which stores nothing. */
const constantMembers = {
  object: "response",
  background: false,
  store: false,
  previous_response_id: null,
  max_tool_calls: null,
  top_logprobs: 0,
  truncation: "disabled",
  access_programs: null,
};

/** The request as a Response repeats it. */
export function responseEcho({ turn, createdAt }: AnswerContext, id: string, model: string): JsonObject {
  const instructions = turn.system.map((part) => part.text).join("\n\n");
  return {
    id,
    ...constantMembers,
    created_at: createdAt,
    model,
    instructions: instructions === "" ? null : instructions,
    frequency_penalty: turn.frequencyPenalty ?? 0,
    max_output_tokens: turn.outputTokensMax,
    metadata: turn.metadata ?? {},
    parallel_tool_calls: turn.parallelToolCalls ?? true,
    presence_penalty: turn.presencePenalty ?? 0,
    prompt_cache_key: turn.cacheKey,
    reasoning: { effort: turn.reasoning?.effort ?? null, summary: turn.reasoning?.visible === true ? "auto" : null },
    safety_identifier: turn.userId,
    // The served tier; "auto" is none.
    service_tier: turn.serviceTier === null || turn.serviceTier === "auto" ? "default" : turn.serviceTier,
    temperature: turn.temperature ?? 1,
    text: withoutNulls({ format: echoFormat(turn.format), verbosity: turn.verbosity }),
    tool_choice: echoToolChoice(turn),
    tools: echoTools(turn),
    top_p: turn.topP ?? 1,
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
  return groupByNamespace(turn.tools, (tool, name) => {
    if (!custom.has(tool.name)) return echoFunction(tool, name);
    return withoutNulls({ type: "custom", name, description: tool.description, format: { type: "text" } });
  });
}

function echoFunction(tool: TurnTool, name: string): JsonObject {
  const { description, parameters, strict } = tool;
  if (isSearch(tool)) return { type: "tool_search", execution: "client", description, parameters };
  return { type: "function", name, description, parameters, strict: strict ?? false };
}

function echoToolChoice(turn: RequestedTurn): string | JsonObject {
  const choice: ToolChoice = turn.toolChoice ?? { kind: "auto" };
  if (choice.kind !== "tool") return choice.kind === "any" ? "required" : choice.kind;
  const tool = turn.tools.find(({ name }) => name === choice.name);
  if (tool !== undefined && isSearch(tool)) return { type: "tool_search" };
  const type = customNames(turn).has(choice.name) ? "custom" : "function";
  return { type, name: tool !== undefined && isNamespaced(tool) ? tool.ownName : choice.name };
}

/** A response with every member that the specification requires. */
export function bareResponse(members: JsonObject): JsonObject {
  return {
    ...constantMembers,
    created_at: 0,
    completed_at: null,
    status: "completed",
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: "",
    output: [],
    parallel_tool_calls: true,
    presence_penalty: 0,
    prompt_cache_key: null,
    reasoning: null,
    safety_identifier: null,
    service_tier: "default",
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: null,
    ...members,
  };
}
