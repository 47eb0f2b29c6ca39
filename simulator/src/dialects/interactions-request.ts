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
  stringsIn,
  textsOf,
} from "../json-body.ts";
import type { ParsedRequest, RequestedTool } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { anyAnswer } from "../sample-value.ts";
import { splitModel } from "../script-source.ts";
import { accountOf, unseal } from "../seal.ts";
import { chooseCalls, type ToolRequest } from "../tool-choice.ts";
import { refuseInteraction } from "./interactions-rules.ts";
import { historyOf, type InteractionStore, type StoredInteraction } from "./interactions-store.ts";

export interface InteractionRequest {
  readonly parsed: ParsedRequest;
  /** The member that names the model or the agent. */
  readonly named: "model" | "agent";
  readonly account: string;
  /** The steps of this request. */
  readonly input: readonly JsonObject[];
  readonly previous: StoredInteraction | null;
  readonly background: boolean;
  readonly stores: boolean;
  readonly summaryShown: boolean;
  /** It continues an unfinished answer, which it finishes. */
  readonly continues: boolean;
  readonly tier: string;
}

export function readInteraction(request: SimulatorRequest, store: InteractionStore): InteractionRequest {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "Request body must be a JSON object.");
  refuseInteraction(body);
  const named = typeof body["agent"] === "string" ? "agent" : "model";
  const account = accountOf(request.headers);
  const previous = previousOf(body, account, store);
  const continues = continuedBy(body, account);
  const input = inputOf(body, previous !== null || continues);
  const context = [...historyOf(previous), ...input];
  refuseLooseResults(context);
  const modelParts = splitModel(stringOf(body[named]));
  const conversation = converse(body, context);
  const config = objectOf(body["generation_config"]);
  const summaryShown = config["thinking_summaries"] === "auto";
  const formats = Array.isArray(body["response_format"])
    ? objectsOf(body["response_format"])
    : [objectOf(body["response_format"])];
  return {
    named,
    account,
    input,
    previous,
    background: body["background"] === true,
    stores: body["store"] !== false,
    summaryShown,
    continues,
    tier: stringOf(body["service_tier"]) || "standard",
    parsed: {
      model: modelParts.model,
      stream: body["stream"] === true,
      prompt: conversation.last,
      promptTokens: conversation.words,
      outputMax: countOf(config["max_output_tokens"]) ?? Number.POSITIVE_INFINITY,
      choices: 1,
      ...chooseCalls(toolsOf(body), toolRequestOf(config), conversation),
      schema: schemaOf(formats),
      thinks: summaryShown || typeof config["thinking_level"] === "string",
      image: imageOf(formats, body["response_modalities"]),
      script: { ...modelParts.script, ...conversation.script },
    },
  };
}

function previousOf(body: JsonObject, account: string, store: InteractionStore): StoredInteraction | null {
  const id = stringOf(body["previous_interaction_id"]);
  if (id === "") return null;
  const previous = store.find(account, id);
  if (previous === null) throw new Refusal(404, `Interaction ${id} not found.`);
  return previous;
}

function continuedBy(body: JsonObject, account: string): boolean {
  const token = stringOf(body["continuation_token"]);
  if (token === "") return false;
  if (unseal("continuation", account, token) === null) throw new Refusal(400, "Invalid continuation_token.");
  return true;
}

/** A string, one content, contents, or steps. */
function inputOf(body: JsonObject, mayBeEmpty: boolean): readonly JsonObject[] {
  const { input } = body;
  if (typeof input === "string") return [userInput([{ type: "text", text: input }])];
  const all = Array.isArray(input) ? objectsOf(input) : isObject(input) ? [input] : [];
  if (all.length === 0 && !mayBeEmpty) throw new Refusal(400, "`input` is required.");
  return all.flatMap((item) => (contentTypes.has(stringOf(item["type"])) ? [userInput([item])] : [item]));
}

function userInput(content: readonly JsonObject[]): JsonObject {
  return { type: "user_input", content };
}

const contentTypes: ReadonlySet<string> = new Set(["text", "image", "audio", "document", "video"]);

function refuseLooseResults(steps: readonly JsonObject[]): void {
  const calls = new Set(steps.filter(({ type }) => type === "function_call").map(({ id }) => stringOf(id)));
  for (const { type, call_id } of steps) {
    if (type !== "function_result" || calls.has(stringOf(call_id))) continue;
    throw new Refusal(400, `No function call found for function_result with call_id ${stringOf(call_id)}.`);
  }
}

function converse(body: JsonObject, steps: readonly JsonObject[]): Conversation {
  const conversation = new Conversation();
  if (typeof body["system_instruction"] === "string") conversation.add("system", [body["system_instruction"]]);
  for (const step of steps) {
    if (step["type"] === "user_input") conversation.add("user", textsOf(step["content"]));
    else if (step["type"] === "model_output") conversation.add("assistant", textsOf(step["content"]));
    else if (step["type"] === "function_result") {
      const { result } = step;
      conversation.add("tool", Array.isArray(result) ? textsOf(result) : stringsIn(result));
    }
  }
  return conversation;
}

function toolsOf(body: JsonObject): readonly RequestedTool[] {
  return objectsOf(body["tools"])
    .filter(({ type }) => type === "function")
    .map(({ name, parameters }) => ({
      kind: "function",
      name: stringOf(name),
      parameters: parameters ?? { type: "object" },
    }));
}

function toolRequestOf(config: JsonObject): ToolRequest {
  const choice = config["tool_choice"];
  const allowed = objectOf(objectOf(choice)["allowed_tools"]);
  const mode = stringOf(typeof choice === "string" ? choice : allowed["mode"]);
  const names = Array.isArray(allowed["tools"]) ? allowed["tools"] : [];
  const forced = mode === "any" && names.length === 1 ? stringOf(names[0]) : null;
  return { mode: mode === "none" ? "none" : mode === "any" ? "required" : "auto", forced, parallel: true };
}

function schemaOf(formats: readonly JsonObject[]): unknown {
  const text = formats.find(({ type, mime_type }) => type === "text" && mime_type === "application/json");
  return text === undefined ? null : (text["schema"] ?? anyAnswer);
}

function imageOf(formats: readonly JsonObject[], modalities: unknown): ParsedRequest["image"] {
  const names = Array.isArray(modalities) ? modalities : formats.map(({ type }) => type);
  if (!names.includes("image")) return null;
  return names.includes("text") ? "after text" : "alone";
}
