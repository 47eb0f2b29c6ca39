import type {
  MediaPart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  TurnMessage,
  TurnPart,
} from "#core/index.ts";
import type { DialectTraits, TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { pairResults } from "../turn/alternation.ts";
import { dataUri } from "../turn/data-uri.ts";
import { extensionOf } from "../turn/media-types.ts";
import { textsIn } from "../turn/parts.ts";
import { canOpen } from "../turn/seal-text.ts";
import { shortId, shortToolName } from "../turn/tool-calls.ts";

/** OpenAI's limit for ids of calls and users, and for cache keys. */
export const idCharactersMax = 64;

/**
 * Writes messages as items. The API refuses calls without output, outputs without a call, and reasoning without a following item: gaps
 * are filled or dropped.
 */
export class InputWriter {
  readonly items: JsonObject[] = [];
  /** Reasoning of the target's own account was sent back. */
  hasOwnReasoning = false;

  readonly #target: TurnTarget;
  readonly #warn: Warn;
  /** Calls whose results follow, by their written id. */
  readonly #waiting = new Map<string, ToolCallPart>();
  readonly #used = new Set<string>();
  #resultOf: ReadonlyMap<ToolCallPart, ToolResultPart> = new Map();
  #paired: ReadonlySet<TurnPart> = new Set();
  #content: JsonObject[] = [];
  #role: TurnMessage["role"] = "user";
  /** Written before the next item. */
  #thoughts: JsonObject[] = [];

  constructor(target: TurnTarget, warn: Warn) {
    this.#target = target;
    this.#warn = warn;
  }

  write(messages: readonly TurnMessage[]): void {
    this.#resultOf = pairResults(messages);
    this.#paired = new Set(this.#resultOf.values());
    for (const { role, parts } of messages) {
      this.#role = role;
      if (role !== "assistant" || parts.some((part) => part.kind !== "tool-call")) this.#writeResults();
      for (const part of parts) this.#writePart(part);
      this.#endMessage();
      this.#thoughts = [];
    }
    this.#writeResults();
  }

  #writePart(part: TurnPart): void {
    switch (part.kind) {
      case "text":
        if (this.#role === "assistant") this.#content.push({ type: "output_text", text: part.text, annotations: [] });
        else this.#content.push({ type: "input_text", text: part.text });
        return;
      case "refusal":
        if (this.#role === "assistant") this.#content.push({ type: "refusal", refusal: part.text });
        else this.#content.push({ type: "input_text", text: part.text });
        return;
      case "tool-call":
        this.#writeCall(part);
        return;
      case "tool-result":
        if (!this.#paired.has(part)) this.#writeOrphanResult(part);
        return;
      case "reasoning":
        this.#writeReasoning(part);
        return;
      default:
        if (this.#role === "user") this.#content.push(writeInputPart(part, this.#target.traits, this.#warn));
        else this.#warn(`${part.kind} parts of ${this.#role} messages cannot be translated and were dropped`);
    }
  }

  #writeCall(part: ToolCallPart): void {
    this.#endMessage();
    // Some vendors reuse ids in every answer; here they must be unique.
    let call_id = shortId(part.id, "call_", idCharactersMax);
    for (let use = 2; this.#used.has(call_id); use++) call_id = shortId(`${part.id}_${use}`, "call_", idCharactersMax);
    this.#used.add(call_id);
    this.#waiting.set(call_id, part);
    this.#item({
      type: "function_call",
      call_id,
      name: shortToolName(part.name),
      arguments: part.argumentsText,
    });
  }

  #writeOrphanResult(part: ToolResultPart): void {
    this.#warn("a tool result without its call was sent as text");
    this.#content.push({ type: "input_text", text: `Result of the tool ${part.name ?? "call"}:` });
    this.#content.push(...this.#inputParts(part));
  }

  /** Answers the calls written so far, before the conversation continues. */
  #writeResults(): void {
    for (const [call_id, call] of this.#waiting) {
      const result = this.#resultOf.get(call);
      if (result === undefined) this.#warn("a tool call without its result was given an empty one");
      const output = result === undefined ? "No result was given for this call." : this.#outputOf(result);
      this.items.push({ type: "function_call_output", call_id, output });
    }
    this.#waiting.clear();
  }

  /** There is no field for errors, so the text marks them. */
  #outputOf(part: ToolResultPart): string | JsonObject[] {
    const texts = textsIn(part.parts);
    if (texts.length === part.parts.length) {
      const text = texts.join("\n");
      return part.isError ? `Error: ${text === "" ? "the tool failed" : text}` : text;
    }
    const parts = this.#inputParts(part);
    return part.isError ? [{ type: "input_text", text: "Error:" }, ...parts] : parts;
  }

  #inputParts(part: ToolResultPart): JsonObject[] {
    return part.parts.map((inner) => writeInputPart(inner, this.#target.traits, this.#warn));
  }

  #writeReasoning({ text, seal }: ReasoningPart): void {
    if (seal === null || !canOpen(seal, "openai-responses", this.#target.account)) {
      this.#warn("reasoning of another upstream was dropped");
      return;
    }
    this.#endMessage();
    this.#thoughts.push({
      type: "reasoning",
      ...(seal.itemId === null ? {} : { id: seal.itemId }),
      summary: text === "" ? [] : [{ type: "summary_text", text }],
      encrypted_content: seal.data,
    });
  }

  #endMessage(): void {
    if (this.#content.length === 0) return;
    const content = this.#content;
    this.#content = [];
    this.#item({ type: "message", role: this.#role, content });
  }

  #item(item: JsonObject): void {
    if (this.#thoughts.length > 0) {
      this.items.push(...this.#thoughts);
      this.#thoughts = [];
      this.hasOwnReasoning = true;
    }
    this.items.push(item);
  }
}

function writeInputPart(part: TextPart | MediaPart, traits: DialectTraits, warn: Warn): JsonObject {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  switch (part.kind) {
    case "image":
      return { type: "input_image", detail: part.detail ?? "auto", ...imageSource(part, traits) };
    case "document":
      return writeDocument(part, traits, warn);
    default:
      throw unsupported("messages", `This model's upstream takes no ${part.kind}.`);
  }
}

function imageSource({ source }: MediaPart, traits: DialectTraits): JsonObject {
  switch (source.kind) {
    case "base64":
      return { image_url: dataUri(source.mediaType, source.data) };
    case "url":
      return { image_url: requireFetchable(source.url, traits) };
    case "file":
      return { file_id: requireOpenaiFile(source) };
    case "text":
      throw unsupported("messages", "This model's upstream does not accept an image as text.");
  }
}

function writeDocument({ source, name }: MediaPart, traits: DialectTraits, warn: Warn): JsonObject {
  switch (source.kind) {
    case "base64": {
      const file_data = dataUri(source.mediaType, source.data);
      return { type: "input_file", filename: name ?? `document.${extensionOf(source.mediaType) ?? "bin"}`, file_data };
    }
    case "url":
      if (name !== null) warn("the name of a document given by URL was dropped");
      return { type: "input_file", file_url: requireFetchable(source.url, traits) };
    case "file":
      return { type: "input_file", file_id: requireOpenaiFile(source) };
    case "text":
      return { type: "input_text", text: name === null ? source.text : `${name}:\n\n${source.text}` };
  }
}

function requireFetchable(url: string, traits: DialectTraits): string {
  if (traits.fetchesUrls === false)
    throw unsupported("messages", "This model's upstream does not download media from URLs.");
  return url;
}

function requireOpenaiFile(source: { readonly id: string; readonly dialect: string }): string {
  if (source.dialect === "openai-responses" || source.dialect === "openai-chat") return source.id;
  throw unsupported("messages", "A file uploaded to another vendor cannot be read by this upstream.");
}
