import type { TextPart, ToolCallPart, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { signatureIn } from "../gemini/google-extras.ts";
import { arrayOf, isObject, type JsonObject, missing, objectOf, requireName, textOf, wrong } from "../json/value.ts";
import { sealFrom } from "../turn/seal-text.ts";
import { wholeArguments } from "../turn/tool-calls.ts";
import { plainName } from "../turn/warnings.ts";
import { imagesOf, thoughtsIn } from "./answer-pieces.ts";
import { customArguments } from "./custom-tool.ts";
import { readCacheHint, readContent, readResultParts, readTexts, textPart } from "./read-parts.ts";

export interface Conversation {
  readonly system: readonly TextPart[];
  readonly messages: readonly TurnMessage[];
}

/** The messages of a chat request: leading instructions apart, neighbouring tool results in one user message. */
export function readMessages(messages: unknown, warn: Warn): Conversation {
  if (messages === undefined || messages === null) throw missing("messages");
  if (!Array.isArray(messages)) throw wrong("messages", "must be an array");
  if (messages.length === 0) throw wrong("messages", "must hold at least one message");
  const reader = new MessageReader(warn);
  messages.forEach((message: unknown, index) => {
    reader.add(message, `messages[${index}]`);
  });
  return reader;
}

/** What is known of a message: read, or an echo of an answer that says nothing more. */
const known: ReadonlySet<string> = new Set([
  ...["role", "content", "refusal", "tool_calls", "function_call", "tool_call_id", "name", "audio"],
  ...["reasoning_content", "reasoning", "reasoning_details", "annotations", "extra_content", "id", "parsed"],
  ...["images", "cache_control", "prompt_cache_breakpoint", "provider_specific_fields"],
]);

class MessageReader implements Conversation {
  readonly system: TextPart[] = [];
  readonly messages: TurnMessage[] = [];
  readonly #warn: Warn;
  /** Names of the tools called so far, by the id of the call. */
  readonly #names = new Map<string, string>();
  /** The message that further tool results join, while nothing else was said. */
  #results: ToolResultPart[] | null = null;
  /** Calls of the time before ids, by name, that wait for their result. */
  readonly #legacy = new Map<string, string>();
  #legacyCalls = 0;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  add(message: unknown, param: string): void {
    if (!isObject(message)) throw wrong(param, "must be an object");
    this.#warnOfUnknown(message);
    switch (message["role"]) {
      case "system":
      case "developer":
        this.#addInstructions(message, param);
        break;
      case "user":
        this.#push({ role: "user", parts: cached(readContent(message["content"], `${param}.content`), message) });
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
        throw missing(`${param}.role`);
      default:
        throw wrong(`${param}.role`, "is not a role that is known");
    }
  }

  #push(message: TurnMessage): void {
    this.messages.push(message);
    this.#results = null;
  }

  #addInstructions(message: JsonObject, param: string): void {
    const parts = cached(readTexts(message["content"], `${param}.content`), message);
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
    const thoughts = thoughtsIn(message);
    if (thoughts !== "") parts.push({ kind: "reasoning", text: thoughts, seal: null, redacted: false });
    parts.push(...cached(readContent(message["content"], `${param}.content`), message));
    const signature = signatureIn(message);
    if (signature !== null) {
      parts.push({ kind: "reasoning", text: "", seal: sealFrom(signature, "gemini"), redacted: false });
    }
    const refusal = textOf(message["refusal"]) ?? "";
    if (refusal !== "") parts.push({ kind: "refusal", text: refusal });
    for (const source of imagesOf(message)) {
      parts.push({ kind: "image", source, name: null, detail: null, cache: null });
    }
    if (isObject(message["audio"])) this.#readAudio(message["audio"], parts);
    const calls = message["tool_calls"] ?? null;
    if (calls !== null && !Array.isArray(calls)) throw wrong(`${param}.tool_calls`, "must be an array");
    arrayOf(calls).forEach((call, index) => {
      parts.push(this.#readCall(call, `${param}.tool_calls[${index}]`));
    });
    if (isObject(message["function_call"])) parts.push(this.#legacyCall(message["function_call"], param));
    return parts;
  }

  /** A spoken answer of before: its transcript where the client kept it. */
  #readAudio(audio: JsonObject, parts: TurnPart[]): void {
    const transcript = textOf(audio["transcript"]) ?? "";
    if (transcript !== "") parts.push(textPart(transcript));
    else this.#warn("audio of an earlier answer is not understood by the upstream and was left out");
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
      seal: signature === null ? null : sealFrom(signature, "gemini"),
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
      this.#warn("name of a message is not understood by the upstream and was left out");
    }
    for (const field in message) {
      if (known.has(field) || message[field] === null) continue;
      this.#warn(`${plainName(field)} of a message is not understood and was left out`);
    }
  }
}

/** A wish for a cache that stands at the message itself, whose content is mostly a string then: it is its last part's. */
function cached<Part extends TurnPart>(parts: readonly Part[], message: JsonObject): readonly Part[] {
  const cache = readCacheHint(message);
  const last = parts.at(-1);
  if (cache === null || last === undefined || !("cache" in last) || last.cache !== null) return parts;
  return parts.with(-1, { ...last, cache });
}

/** JSON text; some clients send the object itself. */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return wholeArguments(value);
  return isObject(value) ? JSON.stringify(value) : "{}";
}
