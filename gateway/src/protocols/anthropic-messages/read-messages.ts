import type { MediaPart, ReasoningPart, Seal, TextPart, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf, wrong } from "../json/value.ts";
import { sealFrom } from "../turn/seal-text.ts";
import { plainName } from "../turn/tool-calls.ts";
import { warnOfCaller, warnOfUnasked } from "../turn/warnings.ts";
import { readCallSeal, withCallSeals } from "./call-seal.ts";
import { readCache, readDocument, readImage, readSearchResult } from "./read-media.ts";

/** The conversation of a messages request. */
export function readMessages(messages: readonly unknown[], warn: Warn): readonly TurnMessage[] {
  const reading: Reading = { warn, names: new Map(), seals: new Map() };
  const read = messages.map((message, index) => readMessage(objectOf(message), `messages.${index}`, reading));
  return withCallSeals(read, reading.seals);
}

/** What is learnt on the way: tools by the ids of their calls, and the seals of calls. */
interface Reading {
  readonly warn: Warn;
  readonly names: Map<string, string>;
  readonly seals: Map<string, Seal>;
}

function readMessage(message: JsonObject, param: string, reading: Reading): TurnMessage {
  const { role, content } = message;
  if (role !== "user" && role !== "assistant" && role !== "system") {
    throw wrong(`${param}.role`, "must be user, assistant or system");
  }
  warnOfUnasked(message, ofMessage, "a message", reading.warn);
  if (typeof content === "string") return { role, parts: textParts(content) };
  if (!Array.isArray(content)) throw wrong(`${param}.content`, "must be a string or an array");
  const parts = content.flatMap((block, index) => {
    const at = `${param}.content.${index}`;
    if (!isObject(block)) throw wrong(at, "must be an object");
    return readBlock(block, at, reading);
  });
  return { role, parts };
}

const ofMessage: ReadonlySet<string> = new Set(["role", "content"]);

function readBlock(block: JsonObject, param: string, reading: Reading): TurnPart[] {
  switch (block["type"]) {
    case "tool_use":
      return [readToolUse(block, param, reading)];
    case "tool_result":
      return [readToolResult(block, param, reading)];
    case "thinking":
      return readThinking(block, param, reading);
    case "redacted_thinking": {
      const seal = sealFrom(requireText(block, "data", param), "anthropic-messages");
      return [{ kind: "reasoning", text: "", seal, redacted: true }];
    }
    default:
      return readContent(block, param, reading.warn);
  }
}

/** Blocks that may also stand inside a tool's result. */
function readContent(block: JsonObject, param: string, warn: Warn): (TextPart | MediaPart)[] {
  switch (block["type"]) {
    case "text":
      return textParts(requireText(block, "text", param), block);
    case "image":
      return [readImage(block, param, warn)];
    case "document":
      return readDocument(block, param, warn);
    case "search_result":
      return [readSearchResult(block)];
    default:
      return readStranger(block, param, warn);
  }
}

/** A block of a server tool or of a beta: what it says in plain text is kept. */
function readStranger(block: JsonObject, param: string, warn: Warn): TextPart[] {
  const type = textOf(block["type"]);
  if (type === null) throw wrong(`${param}.type`, "must be a string");
  const named = /^[a-z0-9_]{1,64}$/.test(type) ? `blocks of type ${type}` : "blocks of an unknown type";
  warn(`${named} are not understood by the upstream: only their text was kept`);
  const { content } = block;
  if (typeof content === "string") return textParts(content);
  return arrayOf(content).flatMap((item) => {
    const inner = objectOf(item);
    return inner["type"] === "text" ? textParts(textOf(inner["text"]) ?? "") : [];
  });
}

function warnOfToolset(block: JsonObject, warn: Warn): void {
  if ((block["toolset_name"] ?? null) === null) return;
  warn("toolset_name of a call is not understood by the upstream and was left out");
}

function readToolUse(block: JsonObject, param: string, reading: Reading): TurnPart {
  const id = plainName(requireText(block, "id", param));
  const name = requireText(block, "name", param);
  reading.names.set(id, name);
  warnOfCaller(block, reading.warn);
  warnOfToolset(block, reading.warn);
  const argumentsText = JSON.stringify(block["input"] ?? {});
  return { kind: "tool-call", id, name, argumentsText, seal: null, cache: readCache(block) };
}

function readToolResult(block: JsonObject, param: string, reading: Reading): ToolResultPart {
  const callId = plainName(requireText(block, "tool_use_id", param));
  warnOfToolset(block, reading.warn);
  const content = block["content"] ?? [];
  if (typeof content !== "string" && !Array.isArray(content)) {
    throw wrong(`${param}.content`, "must be a string or an array");
  }
  const parts =
    typeof content === "string"
      ? textParts(content)
      : content.flatMap((inner, index) => readContent(objectOf(inner), `${param}.content.${index}`, reading.warn));
  const name = reading.names.get(callId) ?? null;
  return { kind: "tool-result", callId, name, parts, isError: block["is_error"] === true, cache: readCache(block) };
}

function readThinking(block: JsonObject, param: string, reading: Reading): ReasoningPart[] {
  const text = requireText(block, "thinking", param);
  const signature = textOf(block["signature"]) ?? "";
  const ofCall = readCallSeal(signature);
  if (ofCall !== null) {
    reading.seals.set(ofCall.callId, ofCall.seal);
    return [];
  }
  const seal = signature === "" ? null : sealFrom(signature, "anthropic-messages");
  return [{ kind: "reasoning", text, seal, redacted: false }];
}

function textParts(text: string, block: JsonObject = {}): TextPart[] {
  return text === "" ? [] : [{ kind: "text", text, cache: readCache(block) }];
}

function requireText(block: JsonObject, name: string, param: string): string {
  const value = textOf(block[name]);
  if (value === null) throw wrong(`${param}.${name}`, "must be a string");
  return value;
}
