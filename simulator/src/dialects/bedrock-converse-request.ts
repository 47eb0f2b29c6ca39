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
} from "../json-body.ts";
import type { ParsedRequest, RequestedTool } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitModel } from "../script-source.ts";
import { isSigned } from "../seal.ts";
import { chooseCalls, type ToolRequest } from "../tool-choice.ts";

export function readConverse(request: SimulatorRequest, model: string, stream: boolean): ParsedRequest {
  const body = parseObject(request.body);
  if (body === null)
    throw new Refusal(400, "The request body is not a JSON object.", { code: "SerializationException" });
  const messages = objectsOf(body["messages"]);
  refuseConverse(body, messages);
  const modelParts = splitModel(model);
  const conversation = converse(body, messages);
  const { thinking: thinkingField, reasoning_effort: effort } = objectOf(body["additionalModelRequestFields"]);
  const thinking = objectOf(thinkingField);
  const tools = objectsOf(objectOf(body["toolConfig"])["tools"]).flatMap(toolOf);
  return {
    model: modelParts.model,
    stream,
    prompt: conversation.last,
    promptTokens: conversation.words,
    outputMax: countOf(objectOf(body["inferenceConfig"])["maxTokens"]) ?? Number.POSITIVE_INFINITY,
    choices: 1,
    ...chooseCalls(tools, toolRequestOf(body), conversation),
    schema: schemaOf(body),
    // Claude and gpt-oss have different fields for it.
    thinks: thinking["type"] === "enabled" || thinking["type"] === "adaptive" || typeof effort === "string",
    image: null,
    script: { ...modelParts.script, ...conversation.script },
  };
}

/** A user message counts as its tool results followed by its own text. */
function converse(body: JsonObject, messages: readonly JsonObject[]): Conversation {
  const conversation = new Conversation();
  const system = objectsOf(body["system"]).map((block) => stringOf(block["text"]));
  if (system.length > 0) conversation.add("system", system);
  for (const { role, content } of messages) {
    // A cache point contains no text.
    const blocks = objectsOf(content).filter((block) => !isObject(block["cachePoint"]));
    const results = blocks.filter((block) => isObject(block["toolResult"]));
    for (const block of results) {
      conversation.add("tool", objectsOf(objectOf(block["toolResult"])["content"]).flatMap(resultTexts));
    }
    if (results.length > 0 && results.length === blocks.length) continue;
    const texts = blocks.map((block) => stringOf(block["text"]));
    conversation.add(role === "assistant" ? "assistant" : "user", texts);
  }
  return conversation;
}

function resultTexts(content: JsonObject): readonly string[] {
  return typeof content["text"] === "string" ? [content["text"]] : stringsIn(content["json"]);
}

function toolOf(tool: JsonObject): readonly RequestedTool[] {
  const spec = tool["toolSpec"];
  if (!isObject(spec)) return [];
  return [{ kind: "function", name: stringOf(spec["name"]), parameters: objectOf(spec["inputSchema"])["json"] }];
}

function toolRequestOf(body: JsonObject): ToolRequest {
  const choice = objectOf(objectOf(body["toolConfig"])["toolChoice"]);
  const forced = isObject(choice["tool"]) ? stringOf(choice["tool"]["name"]) : null;
  return { mode: choice["any"] !== undefined || forced !== null ? "required" : "auto", forced, parallel: true };
}

function schemaOf(body: JsonObject): unknown {
  const format = objectOf(objectOf(body["outputConfig"])["textFormat"]);
  if (format["type"] !== "json_schema") return null;
  const { schema } = objectOf(objectOf(format["structure"])["jsonSchema"]);
  return typeof schema === "string" ? parseObject(Buffer.from(schema)) : (schema ?? null);
}

/** Throws Refusal for conversations that Converse would refuse. */
function refuseConverse(body: JsonObject, messages: readonly JsonObject[]): void {
  if (messages.length === 0) throw invalid("The value at messages is empty. Add at least one message and try again.");
  if (messages[0]?.["role"] !== "user") {
    throw invalid(
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  }
  let open: ReadonlySet<string> = new Set();
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    if (role !== "user" && role !== "assistant") throw invalid(`The role at messages.${index} is invalid.`);
    if (index > 0 && role === messages[index - 1]?.["role"]) {
      throw invalid(
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates and try again.",
      );
    }
    for (const [blockIndex, block] of objectsOf(message["content"]).entries())
      refuseBlock(block, `messages.${index}.content.${blockIndex}`);
    const answered = idsOf(message, "toolResult");
    const same = answered.size === open.size && [...open].every((id) => answered.has(id));
    if (!same)
      throw invalid(
        `Expected toolResult blocks at messages.${index}.content for the following Ids: ${[...open].join(", ")}`,
      );
    open = idsOf(message, "toolUse");
  }
  if (open.size > 0) {
    throw invalid(
      `Expected toolResult blocks at messages.${messages.length}.content for the following Ids: ${[...open].join(", ")}`,
    );
  }
  const usesTools = messages.some((message) => idsOf(message, "toolUse").size > 0);
  if (usesTools && objectsOf(objectOf(body["toolConfig"])["tools"]).length === 0) {
    throw invalid("The toolConfig field must be defined when using toolUse and toolResult content blocks.");
  }
}

function refuseBlock(block: JsonObject, at: string): void {
  if (typeof block["text"] === "string" && block["text"].trim() === "") {
    throw invalid(
      `The text field in the ContentBlock object at ${at} is blank. Add text to the text field, and try again.`,
    );
  }
  const reasoning = objectOf(block["reasoningContent"])["reasoningText"];
  if (!isObject(reasoning)) return;
  if (!isSigned("thinking", stringOf(reasoning["text"]), stringOf(reasoning["signature"]))) {
    throw invalid(`${at}: Invalid \`signature\` in \`thinking\` block`);
  }
}

function idsOf(message: JsonObject, kind: "toolUse" | "toolResult"): ReadonlySet<string> {
  const blocks = objectsOf(message["content"]).filter((block) => isObject(block[kind]));
  return new Set(blocks.map((block) => stringOf(objectOf(block[kind])["toolUseId"])));
}

function invalid(message: string): Refusal {
  return new Refusal(400, message, { code: "ValidationException" });
}
