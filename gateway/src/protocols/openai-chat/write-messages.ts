import { createHash } from "node:crypto";
import type {
  MediaPart,
  MediaSource,
  Seal,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
  TurnMessage,
  TurnPart,
} from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { extraContent } from "../gemini/google-extras.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { pairResults } from "../turn/alternation.ts";
import { dataUri } from "../turn/data-uri.ts";
import { extensionOf } from "../turn/media-types.ts";
import { isMedia, textsIn } from "../turn/parts.ts";
import { canOpen } from "../turn/seal-text.ts";
import { shortId, shortToolName } from "../turn/tool-calls.ts";

/** Writes a conversation with each call followed by its result. Repairs what upstreams would reject, with a warning. */
export function writeMessages(
  turn: Turn,
  target: TurnTarget,
  { instructions, thinks }: { readonly instructions: readonly string[]; readonly thinks: boolean },
  warn: Warn,
): readonly JsonObject[] {
  const writer = new MessageWriter(target, thinks, warn);
  if (instructions.length > 0) writer.instruct(instructions.join("\n\n"));
  writer.write(mergeAssistants(turn.messages));
  if (target.traits.strictTurns === true) markBeginning(writer.messages);
  return writer.messages;
}

class MessageWriter {
  readonly messages: JsonObject[] = [];
  readonly #target: TurnTarget;
  readonly #warn: Warn;
  readonly #fetchesUrls: boolean;
  readonly #isStrict: boolean;
  /** Calls must come with reasoning. */
  readonly #wantsThoughts: boolean;

  constructor(target: TurnTarget, thinks: boolean, warn: Warn) {
    this.#target = target;
    this.#warn = warn;
    this.#fetchesUrls = target.traits.fetchesUrls ?? true;
    this.#isStrict = target.traits.strictTurns === true;
    this.#wantsThoughts = thinks && target.traits.reasoning?.wantsThoughts === true;
  }

  instruct(text: string): void {
    this.messages.push({ role: this.#target.traits.instructionRole ?? "system", content: text });
  }

  write(messages: readonly TurnMessage[]): void {
    const loopStart = messages.findLastIndex(
      ({ role, parts }) => role === "user" && parts.some((part) => part.kind !== "tool-result"),
    );
    const resultOf = pairResults(messages);
    // Calls in user messages are dropped, so their results have no call.
    const calls = messages.flatMap((message) => (message.role === "assistant" ? callsIn(message) : []));
    const answers = new Set<TurnPart>(calls.flatMap((call) => resultOf.get(call) ?? []));
    for (const [index, message] of messages.entries()) {
      if (message.role === "user") this.#writeUser(message, answers);
      else if (message.role === "system") this.#writeInstruction(textsIn(message.parts).join("\n\n"));
      else {
        if (message.parts.some((part) => part.kind === "tool-result" && !answers.has(part))) {
          this.#warn("a tool result in an answer of the model was dropped");
        }
        const calls = callsIn(message);
        this.#writeAssistant(message, calls, index > loopStart);
        if (calls.length > 0) this.#writeResults(calls, resultOf);
      }
    }
  }

  #writeInstruction(text: string): void {
    const before = this.messages.at(-1)?.["role"];
    if (!this.#isStrict || before === "user" || before === "system") this.instruct(text);
    else {
      this.#warn("a system message within the conversation was sent as user text");
      this.#pushUser(text);
    }
  }

  /** Strict upstreams require an assistant message after a tool result. */
  #pushUser(content: unknown): void {
    if (this.#isStrict && this.messages.at(-1)?.["role"] === "tool") {
      this.#warn("a short assistant message was inserted after a tool result");
      this.messages.push({ role: "assistant", content: bridgeText });
    }
    this.messages.push({ role: "user", content });
  }

  #callId(id: string): string {
    return this.#isStrict ? mistralCallId(id) : shortId(id, "call_", callIdCharactersMax);
  }

  #writeAssistant(message: TurnMessage, calls: readonly ToolCallPart[], inLoop: boolean): void {
    const answerText = textsIn(message.parts).join("");
    const refusalText = message.parts.flatMap((part) => (part.kind === "refusal" ? [part.text] : [])).join("");
    // Strict upstreams refuse unknown fields.
    const [text, refusal] = this.#isStrict ? [answerText + refusalText, ""] : [answerText, refusalText];
    if (message.parts.some(isMedia)) {
      this.#warn("media in an answer of the model are not supported by the upstream and were dropped");
    }
    if (text === "" && refusal === "" && calls.length === 0) return;
    const thoughts = inLoop || calls.length > 0 ? this.#thoughts(message.parts, calls.length > 0) : {};
    this.messages.push({
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      ...(refusal === "" ? {} : { refusal }),
      ...thoughts,
      ...this.#signature(message.parts),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => this.#call(call)) }),
    });
  }

  /**
   * Reasoning is sent back with its calls if it may come from this upstream. If it is required, a placeholder replaces another
   * model's.
   */
  #thoughts(parts: readonly TurnPart[], calls: boolean): JsonObject {
    const field = this.#target.traits.reasoningField ?? "none";
    const own = parts.flatMap((part) => {
      if (part.kind !== "reasoning" || part.redacted) return [];
      return part.seal === null || canOpen(part.seal, "openai-chat", this.#target.account) ? [part.text] : [];
    });
    const text = own.join("\n\n");
    if (text === "") return calls && this.#wantsThoughts && field !== "none" ? { [field]: placeholderThought } : {};
    if (field !== "none") return { [field]: text };
    if (calls) this.#warn("reasoning before earlier tool calls is not accepted by the upstream and was dropped");
    return {};
  }

  /** Only Gemini accepts the signature, and only from the same account. */
  #call(call: ToolCallPart): JsonObject {
    const own = this.#isOwn(call.seal);
    return {
      id: this.#callId(call.id),
      type: "function",
      function: { name: shortToolName(call.name), arguments: call.argumentsText },
      ...(own ? extraContent(call.seal) : {}),
    };
  }

  /** The signature of the whole answer. */
  #signature(parts: readonly TurnPart[]): JsonObject {
    const seals = parts.flatMap((part) => (part.kind === "reasoning" && this.#isOwn(part.seal) ? [part.seal] : []));
    return extraContent(seals.at(-1) ?? null);
  }

  #isOwn(seal: Seal | null): boolean {
    return seal !== null && seal.dialect === "gemini" && seal.account === this.#target.account;
  }

  #writeResults(calls: readonly ToolCallPart[], resultOf: ReadonlyMap<ToolCallPart, ToolResultPart>): void {
    const attachments: JsonObject[] = [];
    for (const call of calls) {
      const result = resultOf.get(call);
      if (result === undefined) this.#warn("a tool call without a result was given an empty one");
      const content = result === undefined ? "No result was given for this call." : this.#resultText(result);
      this.messages.push({ role: "tool", tool_call_id: this.#callId(call.id), content });
      if (result !== undefined) attachments.push(...this.#attachments(result, call.name));
    }
    if (attachments.length === 0) return;
    this.#warn("media in tool results were moved into a user message");
    this.#pushUser(attachments);
  }

  /** There is no field for errors, so the text marks them. */
  #resultText(result: ToolResultPart): string {
    const text = result.parts.flatMap((part) => plainText(part) ?? []).join("\n");
    if (result.isError) return `Error: ${text === "" ? "the tool failed" : text}`;
    return text === "" && result.parts.length > 0 ? "The result is in the user message that follows." : text;
  }

  #attachments(result: ToolResultPart, name: string): readonly JsonObject[] {
    const media = this.#media(result);
    if (media.length === 0) return [];
    const heading = textContent(`From the result of ${name} (${this.#callId(result.callId)}):`);
    return [heading, ...media];
  }

  #writeUser(message: TurnMessage, answers: ReadonlySet<TurnPart>): void {
    const content: JsonObject[] = [];
    for (const part of message.parts) {
      if (part.kind === "tool-result") {
        if (!answers.has(part)) content.push(...this.#writeOrphanResult(part));
      } else if (isContent(part)) {
        content.push(contentPart(part, this.#fetchesUrls));
      } else {
        this.#warn(`a ${part.kind} in a user message was dropped`);
      }
    }
    if (content.length === 0 && message.parts.length > 0) return;
    const only = content.length === 1 ? content[0]?.["text"] : undefined;
    this.#pushUser(content.length === 0 ? "" : (only ?? content));
  }

  /** Upstreams refuse a result without its call, so it becomes text. */
  #writeOrphanResult(result: ToolResultPart): readonly JsonObject[] {
    this.#warn("a tool result without its call was sent as text");
    const text = `The result of an earlier call of ${result.name ?? "a tool"} was:\n${this.#resultText(result)}`;
    return [textContent(text), ...this.#media(result)];
  }

  #media({ parts }: ToolResultPart): readonly JsonObject[] {
    return parts.flatMap((part) => (plainText(part) === null ? [contentPart(part, this.#fetchesUrls)] : []));
  }
}

function callsIn({ parts }: TurnMessage): ToolCallPart[] {
  return parts.filter((part) => part.kind === "tool-call");
}

/** An empty text counts as missing. */
const placeholderThought = ".";

const bridgeText = "I have the result.";

/** Marks a prefilled answer. */
function markBeginning(messages: JsonObject[]): void {
  const last = messages.at(-1);
  if (last?.["role"] === "assistant") messages[messages.length - 1] = { ...last, prefix: true };
}

/** Joins neighboring assistant messages unless both are answers. */
function mergeAssistants(messages: readonly TurnMessage[]): readonly TurnMessage[] {
  const out: { role: TurnMessage["role"]; parts: TurnPart[] }[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (last?.role !== "assistant" || message.role !== "assistant") {
      out.push({ role: message.role, parts: [...message.parts] });
      continue;
    }
    const bothSpeak = hasText(last.parts) && hasText(message.parts);
    if (bothSpeak && !last.parts.some((part) => part.kind === "tool-call")) {
      out.push({ role: "assistant", parts: [...message.parts] });
      continue;
    }
    if (bothSpeak) last.parts.push({ kind: "text", text: "\n\n", cache: null });
    last.parts.push(...message.parts);
  }
  return out;
}

const hasText = (parts: readonly TurnPart[]): boolean => parts.some((part) => part.kind === "text");

function isContent(part: TurnPart): part is TextPart | MediaPart {
  return part.kind === "text" || isMedia(part);
}

/** OpenAI's limit for call ids. */
const callIdCharactersMax = 40;

/** Mistral requires `^[a-zA-Z0-9]{9}$`. */
function mistralCallId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);
}

function textContent(text: string): JsonObject {
  return { type: "text", text };
}

/** Throws Failure unsupported_by_model. */
function contentPart(part: TextPart | MediaPart, fetchesUrls: boolean): JsonObject {
  switch (part.kind) {
    case "text":
      return textContent(part.text);
    case "image":
      return imagePart(part, fetchesUrls);
    case "document":
      return documentPart(part);
    case "audio":
      return audioPart(part.source);
    case "video":
      throw unsupported("messages", "This model's upstream does not accept videos.");
  }
}

/** The text of text parts and plain-text documents; null for others. */
function plainText(part: TextPart | MediaPart): string | null {
  if (part.kind === "text") return part.text;
  const text = part.kind === "document" ? documentText(part.source) : null;
  return text === null || part.name === null ? text : `${part.name}:\n${text}`;
}

function imagePart(part: MediaPart, fetchesUrls: boolean): JsonObject {
  const url = imageUrl(part.source, fetchesUrls);
  return { type: "image_url", image_url: part.detail === null ? { url } : { url, detail: part.detail } };
}

function imageUrl(source: MediaSource, fetchesUrls: boolean): string {
  if (source.kind === "base64") return dataUri(source.mediaType, source.data);
  if (source.kind !== "url")
    throw unsupported("messages", "This model's upstream accepts images only as data or URLs.");
  if (fetchesUrls) return source.url;
  throw unsupported("messages", "This model's upstream does not download images from URLs.");
}

/** Plain text is inlined; other documents are sent as files. */
function documentPart(part: MediaPart): JsonObject {
  const text = plainText(part);
  if (text !== null) return textContent(text);
  const { source } = part;
  if (source.kind === "base64") {
    const filename = part.name ?? "document.pdf";
    return { type: "file", file: { filename, file_data: dataUri(source.mediaType, source.data) } };
  }
  if (source.kind === "file" && openaiFiles.has(source.dialect)) return { type: "file", file: { file_id: source.id } };
  throw unsupported("messages", "This model's upstream accepts documents only as data.");
}

/** Dialects with files of the same vendor. */
const openaiFiles: ReadonlySet<string> = new Set(["openai-chat", "openai-responses"]);

function documentText(source: MediaSource): string | null {
  if (source.kind === "text") return source.text;
  if (source.kind !== "base64" || !source.mediaType.startsWith("text/")) return null;
  return Buffer.from(source.data, "base64").toString("utf8");
}

function audioPart(source: MediaSource): JsonObject {
  const format = source.kind === "base64" ? extensionOf(source.mediaType) : null;
  if (source.kind !== "base64" || (format !== "wav" && format !== "mp3")) {
    throw unsupported("messages", "This model's upstream accepts audio only as WAV or MP3 data.");
  }
  return { type: "input_audio", input_audio: { data: source.data, format } };
}
