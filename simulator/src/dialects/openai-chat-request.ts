import { bounds } from "../bounds.ts";
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
import { anyAnswer } from "../sample-value.ts";
import { splitModel } from "../script-source.ts";
import { chooseCalls, type ToolRequest } from "../tool-choice.ts";

export interface ChatRequest {
  readonly parsed: ParsedRequest;
  readonly includeUsage: boolean;
  readonly logprobs: boolean;
}

/** `deployment`: the model, if the path names it; it overrides the body. */
export function readChat(request: SimulatorRequest, deployment: string | null = null): ChatRequest {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  const model = deployment ?? stringOf(body["model"]);
  if (model === "") throw new Refusal(400, "you must provide a model parameter");
  if (!Array.isArray(body["messages"])) {
    throw new Refusal(400, "Missing required parameter: 'messages'.", {
      param: "messages",
      code: "missing_required_parameter",
    });
  }
  const messages = objectsOf(body["messages"]);
  refuseLooseResults(messages);
  const modelParts = splitModel(model);
  const conversation = converse(messages);
  const stream = body["stream"] === true;
  return {
    parsed: {
      model: modelParts.model,
      stream,
      prompt: conversation.last,
      promptTokens: conversation.words,
      outputMax: countOf(body["max_completion_tokens"], body["max_tokens"]) ?? Number.POSITIVE_INFINITY,
      choices: Math.min(Math.max(1, countOf(body["n"]) ?? 1), bounds.choicesMax),
      ...chooseCalls(objectsOf(body["tools"]).flatMap(toolOf), toolRequestOf(body), conversation),
      schema: schemaOf(body["response_format"]),
      thinks: thinksOf(body),
      image: null,
      script: { ...modelParts.script, ...conversation.script },
    },
    includeUsage: stream && objectOf(body["stream_options"])["include_usage"] === true,
    logprobs: body["logprobs"] === true,
  };
}

function converse(messages: readonly JsonObject[]): Conversation {
  const conversation = new Conversation();
  for (const { role, content } of messages) {
    if (role === "user" || role === "assistant" || role === "tool") conversation.add(role, textsOf(content));
    else conversation.add(role === "function" ? "tool" : "system", textsOf(content));
  }
  return conversation;
}

/** A tool message must answer a call of the assistant message before it, and every such call must be answered. */
function refuseLooseResults(messages: readonly JsonObject[]): void {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const param = `messages.[${index}].role`;
    if (message["role"] === "tool") {
      if (!open.delete(stringOf(message["tool_call_id"]))) {
        throw new Refusal(
          400,
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          { param },
        );
      }
      continue;
    }
    if (open.size > 0) throw unanswered(open, param);
    open = new Set(objectsOf(message["tool_calls"]).map((call) => stringOf(call["id"])));
  }
  if (open.size > 0) throw unanswered(open, `messages.[${messages.length}].role`);
}

function unanswered(open: ReadonlySet<string>, param: string): Refusal {
  const message =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
    `The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
  return new Refusal(400, message, { param });
}

function toolOf(tool: JsonObject): readonly RequestedTool[] {
  const kind = tool["type"] === "custom" ? "custom" : "function";
  const definition = tool[kind];
  if (!isObject(definition) || typeof definition["name"] !== "string") return [];
  const parameters = definition["parameters"] ?? { type: "object", properties: {} };
  return [{ kind, name: definition["name"], parameters }];
}

function toolRequestOf(body: JsonObject): ToolRequest {
  const choice = body["tool_choice"];
  const parallel = body["parallel_tool_calls"] !== false;
  if (isObject(choice)) {
    const allowed = objectOf(choice["allowed_tools"])["mode"];
    if (choice["type"] === "allowed_tools")
      return { mode: allowed === "required" ? "required" : "auto", forced: null, parallel };
    return { mode: "required", forced: toolOf(choice)[0]?.name ?? "", parallel };
  }
  return { mode: choice === "none" || choice === "required" ? choice : "auto", forced: null, parallel };
}

function schemaOf(format: unknown): unknown {
  const fields = objectOf(format);
  if (fields["type"] === "json_object") return anyAnswer;
  return fields["type"] === "json_schema" ? (objectOf(fields["json_schema"])["schema"] ?? null) : null;
}

/** OpenAI's field, and those of vendors with the same API. */
function thinksOf(body: JsonObject): boolean {
  const effort = body["reasoning_effort"] ?? objectOf(body["reasoning"])["effort"];
  const enabled = objectOf(body["thinking"])["type"] === "enabled" || body["enable_thinking"] === true;
  return enabled || (typeof effort === "string" && effort !== "none");
}
