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
import { accountOf } from "../seal.ts";
import { chooseCalls, type ToolRequest } from "../tool-choice.ts";
import { refuseItems } from "./responses-rules.ts";
import { historyOf, type ResponseStore, type StoredResponse } from "./responses-store.ts";

export interface ResponsesRequest {
  readonly body: JsonObject;
  readonly account: string;
  readonly parsed: ParsedRequest;
  /** The input items of this request, each with a type. */
  readonly input: readonly JsonObject[];
  /** The input items after those of all previous responses. */
  readonly context: readonly JsonObject[];
  readonly previous: StoredResponse | null;
  /** Whether the last item requests a compaction instead of an answer. */
  readonly compacts: boolean;
  readonly background: boolean;
  readonly stores: boolean;
  readonly summaryShown: boolean;
  readonly encrypted: boolean;
}

export function readResponses(request: SimulatorRequest, store: ResponseStore): ResponsesRequest {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  const model = stringOf(body["model"]);
  if (model === "") throw missing("model");
  const account = accountOf(request.headers);
  const previous = previousOf(body, account, store);
  const input = inputOf(body, previous !== null);
  const context = [...historyOf(previous), ...input];
  refuseItems({ input, context, account, store });
  const background = body["background"] === true;
  const stores = body["store"] !== false;
  if (background && !stores) throw new Refusal(400, "Background mode requires 'store' to be true.", { param: "store" });
  const modelParts = splitModel(model);
  const conversation = converse(body, context);
  const reasoning = objectOf(body["reasoning"]);
  const include = Array.isArray(body["include"]) ? body["include"] : [];
  return {
    body,
    account,
    input,
    context,
    previous,
    background,
    stores,
    compacts: input.at(-1)?.["type"] === "compaction_trigger",
    summaryShown: isSet(reasoning["summary"] ?? reasoning["generate_summary"]),
    encrypted: include.includes("reasoning.encrypted_content"),
    parsed: {
      model: modelParts.model,
      stream: body["stream"] === true,
      prompt: conversation.last,
      promptTokens: conversation.words,
      outputMax: countOf(body["max_output_tokens"]) ?? Number.POSITIVE_INFINITY,
      choices: 1,
      ...chooseCalls(toolsOf(body["tools"]), toolRequestOf(body), conversation),
      schema: schemaOf(body),
      thinks: isSet(reasoning["effort"]) || isSet(reasoning["summary"]),
      image: null,
      script: { ...modelParts.script, ...conversation.script },
    },
  };
}

function missing(param: string): Refusal {
  return new Refusal(400, `Missing required parameter: '${param}'.`, { param, code: "missing_required_parameter" });
}

function isSet(value: unknown): boolean {
  return typeof value === "string" && value !== "none";
}

function previousOf(body: JsonObject, account: string, store: ResponseStore): StoredResponse | null {
  const id = body["previous_response_id"];
  if (id === undefined || id === null) return null;
  const previous = store.find(account, stringOf(id));
  if (previous !== null) return previous;
  throw new Refusal(400, `Previous response with id '${stringOf(id)}' not found.`, {
    param: "previous_response_id",
    code: "previous_response_not_found",
  });
}

function inputOf(body: JsonObject, hasPrevious: boolean): readonly JsonObject[] {
  const { input } = body;
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  if (Array.isArray(input)) {
    return input.map((item, index) => {
      if (!isObject(item)) throw new Refusal(400, `Invalid type for 'input[${index}]'.`, { param: `input[${index}]` });
      return item["type"] === undefined ? { type: "message", ...item } : item;
    });
  }
  if (hasPrevious || isObject(body["prompt"])) return [];
  throw missing("input");
}

function converse(body: JsonObject, context: readonly JsonObject[]): Conversation {
  const conversation = new Conversation();
  if (typeof body["instructions"] === "string") conversation.add("system", [body["instructions"]]);
  for (const item of context) {
    const type = stringOf(item["type"]);
    if (type === "message") {
      const role = item["role"];
      conversation.add(role === "user" || role === "assistant" ? role : "system", textsOf(item["content"]));
    } else if (type.endsWith("_output")) {
      conversation.add("tool", textsOf(item["output"]));
    }
  }
  return conversation;
}

/** Functions and custom tools, including those in namespaces; the vendor's own tools are never called. */
function toolsOf(tools: unknown, namespace?: string): readonly RequestedTool[] {
  return objectsOf(tools).flatMap((tool): readonly RequestedTool[] => {
    const name = stringOf(tool["name"]);
    if (tool["type"] === "namespace") return toolsOf(tool["tools"], name);
    if (tool["type"] !== "function" && tool["type"] !== "custom") return [];
    const parameters = tool["parameters"] ?? { type: "object", properties: {} };
    return [{ kind: tool["type"], name, parameters, ...(namespace === undefined ? {} : { namespace }) }];
  });
}

function toolRequestOf(body: JsonObject): ToolRequest {
  const choice = body["tool_choice"];
  const parallel = body["parallel_tool_calls"] !== false;
  if (isObject(choice)) {
    if (choice["type"] === "function" || choice["type"] === "custom") {
      return { mode: "required", forced: stringOf(choice["name"]), parallel };
    }
    return { mode: choice["mode"] === "required" ? "required" : "auto", forced: null, parallel };
  }
  return { mode: choice === "none" || choice === "required" ? choice : "auto", forced: null, parallel };
}

function schemaOf(body: JsonObject): unknown {
  const format = objectOf(objectOf(body["text"])["format"]);
  if (format["type"] === "json_object") return anyAnswer;
  return format["type"] === "json_schema" ? (format["schema"] ?? null) : null;
}
