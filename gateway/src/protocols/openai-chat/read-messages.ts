import type { MediaPart, TextPart, ToolCallPart, ToolResultPart, Turn, TurnMessage, TurnPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { signatureIn } from "../gemini/google-extras.ts";
import {
  arrayOf,
  invalid,
  isObject,
  type JsonObject,
  missingParam,
  objectOf,
  requireName,
  textOf,
  unsupported,
} from "../json/value.ts";
import { isMedia, mediaPart, textPart } from "../turn/parts.ts";
import { readCacheHint } from "../turn/prompt-cache.ts";
import { readSeal } from "../turn/seal-text.ts";
import { argumentsOrEmpty } from "../turn/tool-calls.ts";
import { notSupported, warnOfUnsentMembers } from "../turn/warnings.ts";
import { imagesOf, reasoningIn } from "./answer-pieces.ts";
import { customArguments } from "./custom-tool.ts";
import { readContentParts } from "./read-parts.ts";

/** Leading instructions are separated, neighboring tool results joined in one user message. */
export function readMessages(messages: unknown, warn: Warn): Pick<Turn, "system" | "messages"> {
  if (messages === undefined || messages === null) throw missingParam("messages");
  if (!Array.isArray(messages)) throw invalid("messages", "must be an array");
  if (messages.length === 0) throw invalid("messages", "must contain at least one message");
  const reader = new MessageReader(warn);
  messages.forEach((message: unknown, index) => {
    reader.add(message, `messages[${index}]`);
  });
  return reader;
}

/** Members that are read, or repeat an answer. */
const messageMembers: ReadonlySet<string> = new Set([
  ...["role", "content", "refusal", "tool_calls", "function_call", "tool_call_id", "name", "audio"],
  ...["reasoning_content", "reasoning", "reasoning_details", "annotations", "extra_content", "id", "parsed"],
  ...["images", "cache_control", "prompt_cache_breakpoint", "provider_specific_fields"],
]);

class MessageReader {
  readonly system: TextPart[] = [];
  readonly messages: TurnMessage[] = [];
  readonly #warn: Warn;
  /** Tool names by call id. */
  readonly #names = new Map<string, string>();
  /** The message that further tool results join. */
  #results: ToolResultPart[] | null = null;
  /** Unanswered calls without ids, by name. */
  readonly #legacy = new Map<string, string>();
  #legacyCalls = 0;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  add(message: unknown, param: string): void {
    if (!isObject(message)) throw invalid(param, "must be an object");
    this.#warnOfUnknown(message);
    switch (message["role"]) {
      case "system":
      case "developer":
        this.#addInstructions(message, param);
        break;
      case "user":
        this.#push({
          role: "user",
          parts: withCacheHint(readContent(message["content"], `${param}.content`), message),
        });
        break;
      case "assistant":
        this.#push({ role: "assistant", parts: this.#assistantParts(message, param) });
        break;
      case "tool":
        this.#addResult(requireName(message["tool_call_id"], `${param}.tool_call_id`), message, param);
        break;
      case "function":
        this.#addResult(this.#legacyId(requireName(message["name"], `${param}.name`)), message, param);
        break;
      case undefined:
      case null:
        throw missingParam(`${param}.role`);
      default:
        throw invalid(`${param}.role`, "is not a known role");
    }
  }

  #push(message: TurnMessage): void {
    this.messages.push(message);
    this.#results = null;
  }

  #addInstructions(message: JsonObject, param: string): void {
    const parts = withCacheHint(readTexts(message["content"], `${param}.content`), message);
    if (this.messages.length === 0) this.system.push(...parts);
    else if (parts.length > 0) this.#push({ role: "system", parts });
  }

  #addResult(callId: string, message: JsonObject, param: string): void {
    const result: ToolResultPart = {
      kind: "tool-result",
      callId,
      name: this.#names.get(callId) ?? textOf(message["name"]),
      parts: readResultParts(message["content"], `${param}.content`),
      isError: false,
      cache: readCacheHint(message),
    };
    if (this.#results === null) {
      const results: ToolResultPart[] = [];
      this.#push({ role: "user", parts: results });
      this.#results = results;
    }
    this.#results.push(result);
  }

  #assistantParts(message: JsonObject, param: string): readonly TurnPart[] {
    const parts: TurnPart[] = [];
    const thoughts = reasoningIn(message);
    if (thoughts !== "") parts.push({ kind: "reasoning", text: thoughts, seal: null, redacted: false });
    parts.push(...withCacheHint(readContent(message["content"], `${param}.content`), message));
    const signature = signatureIn(message);
    if (signature !== null) {
      parts.push({ kind: "reasoning", text: "", seal: readSeal(signature, "gemini"), redacted: false });
    }
    const refusal = textOf(message["refusal"]) ?? "";
    if (refusal !== "") parts.push({ kind: "refusal", text: refusal });
    for (const source of imagesOf(message)) {
      parts.push(mediaPart("image", source));
    }
    if (isObject(message["audio"])) this.#readAudio(message["audio"], parts);
    const calls = message["tool_calls"] ?? null;
    if (calls !== null && !Array.isArray(calls)) throw invalid(`${param}.tool_calls`, "must be an array");
    arrayOf(calls).forEach((call, index) => {
      parts.push(this.#readCall(call, `${param}.tool_calls[${index}]`));
    });
    if (isObject(message["function_call"])) parts.push(this.#legacyCall(message["function_call"], param));
    return parts;
  }

  /** Keeps the transcript of an earlier audio answer. */
  #readAudio(audio: JsonObject, parts: TurnPart[]): void {
    const transcript = textOf(audio["transcript"]) ?? "";
    if (transcript !== "") parts.push(textPart(transcript));
    else this.#warn(notSupported("audio of an earlier answer"));
  }

  #readCall(value: unknown, param: string): ToolCallPart {
    const call = objectOf(value);
    const id = requireName(call["id"], `${param}.id`);
    const custom = call["custom"];
    const body = isObject(custom) ? custom : objectOf(call["function"]);
    const where = isObject(custom) ? "custom" : "function";
    const name = requireName(body["name"], `${param}.${where}.name`);
    this.#names.set(id, name);
    const signature = signatureIn(call);
    return {
      kind: "tool-call",
      id,
      name,
      argumentsText: isObject(custom) ? customArguments(textOf(custom["input"]) ?? "") : argumentsOf(body["arguments"]),
      seal: signature === null ? null : readSeal(signature, "gemini"),
      cache: null,
    };
  }

  #legacyCall(call: JsonObject, param: string): ToolCallPart {
    const name = requireName(call["name"], `${param}.function_call.name`);
    const id = this.#inventId(name);
    return { kind: "tool-call", id, name, argumentsText: argumentsOf(call["arguments"]), seal: null, cache: null };
  }

  #legacyId(name: string): string {
    const id = this.#legacy.get(name) ?? this.#inventId(name);
    this.#legacy.delete(name);
    return id;
  }

  #inventId(name: string): string {
    const id = `call_function_${++this.#legacyCalls}`;
    this.#legacy.set(name, id);
    this.#names.set(id, name);
    return id;
  }

  #warnOfUnknown(message: JsonObject): void {
    if ((message["name"] ?? null) !== null && message["role"] !== "tool" && message["role"] !== "function") {
      this.#warn(notSupported("name of a message"));
    }
    warnOfUnsentMembers(message, messageMembers, "a message", this.#warn);
  }
}

/** A cache hint on the message applies to its last part. */
function withCacheHint<Part extends TurnPart>(parts: readonly Part[], message: JsonObject): readonly Part[] {
  const cache = readCacheHint(message);
  const last = parts.at(-1);
  if (cache === null || last === undefined || !("cache" in last) || last.cache !== null) return parts;
  return parts.with(-1, { ...last, cache });
}

/** Some clients send an object instead of JSON text. */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return argumentsOrEmpty(value);
  return isObject(value) ? JSON.stringify(value) : "{}";
}

function readContent(content: unknown, param: string): readonly TurnPart[] {
  return readContentParts(content, param, "openai-chat", (type, at) => {
    if ((type ?? null) === null) throw missingParam(at);
    throw unsupported(at, "This type of content part is not supported by the upstream.");
  });
}

function readTexts(content: unknown, param: string): readonly TextPart[] {
  return readContent(content, param).map((part) => {
    if (part.kind === "text") return part;
    throw invalid(param, "may contain only text");
  });
}

function readResultParts(content: unknown, param: string): readonly (TextPart | MediaPart)[] {
  return readContent(content, param).map((part) => {
    if (part.kind === "text" || isMedia(part)) return part;
    throw invalid(param, "may contain only text and media");
  });
}
