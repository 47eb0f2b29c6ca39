import type {
  MediaPart,
  MediaSource,
  ReasoningPart,
  Seal,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  TurnMessage,
  TurnPart,
} from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, expectText, invalid, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { readCacheControl } from "../turn/prompt-cache.ts";
import { readSeal, readSealText, sealText } from "../turn/seal-text.ts";
import { decodeName } from "../turn/tool-calls.ts";
import { notSupported, warnOfCaller, warnOfUnsentMembers } from "../turn/warnings.ts";

export function readMessages(messages: readonly unknown[], warn: Warn): readonly TurnMessage[] {
  const reading: ReadState = { warn, names: new Map(), seals: new Map() };
  const read = messages.map((message, index) => readMessage(objectOf(message), `messages.${index}`, reading));
  return withCallSeals(read, reading.seals);
}

/** Tool names by call id, and seals of calls. */
interface ReadState {
  readonly warn: Warn;
  readonly names: Map<string, string>;
  readonly seals: Map<string, Seal>;
}

function readMessage(message: JsonObject, param: string, reading: ReadState): TurnMessage {
  const { role, content } = message;
  if (role !== "user" && role !== "assistant" && role !== "system") {
    throw invalid(`${param}.role`, "must be user, assistant or system");
  }
  warnOfUnsentMembers(message, messageMembers, "a message", reading.warn);
  if (typeof content === "string") return { role, parts: textParts(content) };
  if (!Array.isArray(content)) throw invalid(`${param}.content`, "must be a string or an array");
  const parts = content.flatMap((block, index) => {
    const at = `${param}.content.${index}`;
    if (!isObject(block)) throw invalid(at, "must be an object");
    return readBlock(block, at, reading);
  });
  return { role, parts };
}

const messageMembers: ReadonlySet<string> = new Set(["role", "content"]);

function readBlock(block: JsonObject, param: string, reading: ReadState): TurnPart[] {
  switch (block["type"]) {
    case "tool_use":
      return [readToolUse(block, param, reading)];
    case "tool_result":
      return [readToolResult(block, param, reading)];
    case "thinking":
      return readThinking(block, param, reading);
    case "redacted_thinking": {
      const seal = readSeal(expectText(block["data"], `${param}.data`), "anthropic-messages");
      return [{ kind: "reasoning", text: "", seal, redacted: true }];
    }
    default:
      return readContent(block, param, reading.warn);
  }
}

/** Blocks that may also occur in a tool result. */
function readContent(block: JsonObject, param: string, warn: Warn): (TextPart | MediaPart)[] {
  switch (block["type"]) {
    case "text":
      return textParts(expectText(block["text"], `${param}.text`), block);
    case "image":
      return [readImage(block, param, warn)];
    case "document":
      return readDocument(block, param, warn);
    case "search_result":
      return [readSearchResult(block)];
    default:
      return readUnknownBlock(block, param, warn);
  }
}

/** Keeps only the text of server tool and beta blocks. */
function readUnknownBlock(block: JsonObject, param: string, warn: Warn): TextPart[] {
  const type = textOf(block["type"]);
  if (type === null) throw invalid(`${param}.type`, "must be a string");
  const named = /^[a-z0-9_]{1,64}$/.test(type) ? `blocks of type ${type}` : "blocks of an unknown type";
  warn(`${named} are not supported by the upstream: only their text was kept`);
  const { content } = block;
  if (typeof content === "string") return textParts(content);
  return arrayOf(content).flatMap((item) => {
    const inner = objectOf(item);
    return inner["type"] === "text" ? textParts(textOf(inner["text"]) ?? "") : [];
  });
}

function warnOfToolset(block: JsonObject, warn: Warn): void {
  if ((block["toolset_name"] ?? null) === null) return;
  warn(notSupported("toolset_name of a call"));
}

function readToolUse(block: JsonObject, param: string, reading: ReadState): TurnPart {
  const id = decodeName(expectText(block["id"], `${param}.id`));
  const name = expectText(block["name"], `${param}.name`);
  reading.names.set(id, name);
  warnOfCaller(block, reading.warn);
  warnOfToolset(block, reading.warn);
  const argumentsText = JSON.stringify(block["input"] ?? {});
  return { kind: "tool-call", id, name, argumentsText, seal: null, cache: readCacheControl(block) };
}

function readToolResult(block: JsonObject, param: string, reading: ReadState): ToolResultPart {
  const callId = decodeName(expectText(block["tool_use_id"], `${param}.tool_use_id`));
  warnOfToolset(block, reading.warn);
  const content = block["content"] ?? [];
  if (typeof content !== "string" && !Array.isArray(content)) {
    throw invalid(`${param}.content`, "must be a string or an array");
  }
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content.map(objectOf);
  const parts = blocks.flatMap((inner, index) => readContent(inner, `${param}.content.${index}`, reading.warn));
  const name = reading.names.get(callId) ?? null;
  return {
    kind: "tool-result",
    callId,
    name,
    parts,
    isError: block["is_error"] === true,
    cache: readCacheControl(block),
  };
}

function readThinking(block: JsonObject, param: string, reading: ReadState): ReasoningPart[] {
  const text = expectText(block["thinking"], `${param}.thinking`);
  const signature = textOf(block["signature"]) ?? "";
  const ofCall = readCallSeal(signature);
  if (ofCall !== null) {
    reading.seals.set(ofCall.callId, ofCall.seal);
    return [];
  }
  const seal = signature === "" ? null : readSeal(signature, "anthropic-messages");
  return [{ kind: "reasoning", text, seal, redacted: false }];
}

function textParts(text: string, block: JsonObject = {}): TextPart[] {
  return text === "" ? [] : [{ kind: "text", text, cache: readCacheControl(block) }];
}

function readImage(block: JsonObject, param: string, warn: Warn): MediaPart {
  warnOfUnsentMembers(block, imageMembers, "an image", warn);
  const source = readSource(objectOf(block["source"]), `${param}.source`);
  return { kind: "image", source, name: null, detail: null, cache: readCacheControl(block) };
}

const imageMembers: ReadonlySet<string> = new Set(["type", "source", "cache_control"]);

/** A document made of blocks becomes its text, followed by its pictures. */
function readDocument(block: JsonObject, param: string, warn: Warn): (TextPart | MediaPart)[] {
  if (objectOf(block["citations"])["enabled"] === true) warn("citations are not supported by the upstream");
  const before = textParts(textOf(block["context"]) ?? "");
  const source = objectOf(block["source"]);
  if (source["type"] !== "content") return [...before, documentPart(readSource(source, `${param}.source`), block)];
  const content = source["content"];
  const items = typeof content === "string" ? [{ type: "text", text: content }] : arrayOf(content).filter(isObject);
  const text = items.flatMap((item) => textOf(item["text"]) ?? []).join("\n");
  const pictures = items
    .filter((item) => item["type"] === "image")
    .map((item) => readImage(item, `${param}.source`, warn));
  return [...before, documentPart({ kind: "text", text }, block), ...pictures];
}

/** A `search_result` becomes a document with the source as its first line. */
function readSearchResult(block: JsonObject): MediaPart {
  const texts = arrayOf(block["content"]).flatMap((item) => textOf(objectOf(item)["text"]) ?? []);
  const text = [textOf(block["source"]) ?? "", ...texts].filter((line) => line !== "").join("\n");
  return documentPart({ kind: "text", text }, block);
}

function documentPart(source: MediaSource, block: JsonObject): MediaPart {
  return { kind: "document", source, name: textOf(block["title"]), detail: null, cache: readCacheControl(block) };
}

function readSource(source: JsonObject, param: string): MediaSource {
  const text = (name: string): string => expectText(source[name], `${param}.${name}`);
  switch (source["type"]) {
    case "base64":
      return { kind: "base64", mediaType: text("media_type"), data: text("data") };
    case "url":
      return { kind: "url", url: text("url"), mediaType: null };
    case "text":
      return { kind: "text", text: text("data") };
    case "file":
      return { kind: "file", id: text("file_id"), dialect: "anthropic-messages" };
    default:
      throw invalid(param, "is not a known source");
  }
}

/**
 * tool_use has no field for a seal, but Gemini requires it back. It travels as the signature of an empty thinking block that names its
 * call.
 */
export function callSealText(seal: Seal, callId: string): string {
  return sealText({ ...seal, itemId: callSealMark + callId });
}

/** Null if the signature belongs to the thinking block itself. */
function readCallSeal(signature: string): { readonly callId: string; readonly seal: Seal } | null {
  const seal = readSealText(signature);
  const itemId = seal?.itemId ?? null;
  if (seal === null || itemId === null || !itemId.startsWith(callSealMark)) return null;
  return { callId: itemId.slice(callSealMark.length), seal: { ...seal, itemId: null } };
}

/** Puts the seals back on their calls. */
function withCallSeals(messages: TurnMessage[], seals: ReadonlyMap<string, Seal>): readonly TurnMessage[] {
  if (seals.size === 0) return messages;
  const sealed = (part: ToolCallPart): ToolCallPart => ({ ...part, seal: seals.get(part.id) ?? null });
  return messages.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) => (part.kind === "tool-call" ? sealed(part) : part)),
  }));
}

const callSealMark = "tool-call ";
