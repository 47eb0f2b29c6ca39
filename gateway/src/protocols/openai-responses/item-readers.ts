import type { AnswerEvent, Citation } from "#core/index.ts";
import type { AnswerSource, Warn } from "../codec.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { customArguments } from "../openai-chat/custom-tool.ts";
import { fileCitation, spanOf, urlCitation } from "../turn/citations.ts";
import { decodeName } from "../turn/tool-calls.ts";
import { isEmptyValue, warnOfUnknownType } from "../turn/warnings.ts";

type Emit = (event: AnswerEvent) => void;

/** Reads the events of one output item. */
export abstract class ItemReader {
  protected readonly emit: Emit;
  protected readonly source: AnswerSource;

  constructor(emit: Emit, source: AnswerSource) {
    this.emit = emit;
    this.source = source;
  }

  read(_type: string, _event: JsonObject): void {}

  /** Emits content of the final item that no event contained. */
  abstract done(item: JsonObject): void;
}

/** Null for items without a neutral form. */
export function outputReader(item: JsonObject, emit: Emit, source: AnswerSource): ItemReader | null {
  switch (item["type"]) {
    case "message":
      return new MessageReader(emit, source);
    case "function_call":
      emitCallStart(item, emit, source);
      return new CallReader(emit, source);
    case "custom_tool_call":
      emitCallStart(item, emit, source);
      return new CustomCallReader(emit, source);
    case "reasoning":
      return new ReasoningReader(emit, source);
    case "image_generation_call":
      return new ImageReader(emit, source);
    default:
      warnOfUnknownType("items", item["type"], source.warn);
      return null;
  }
}

/** The name was encoded if this API would not accept it. */
function emitCallStart(item: JsonObject, emit: Emit, source: AnswerSource): void {
  const id = textOf(item["call_id"]) ?? textOf(item["id"]) ?? source.newId("call_");
  emit({ kind: "block-start", block: { kind: "tool-call", id, name: decodeName(textOf(item["name"]) ?? "") } });
}

interface OpenPart {
  readonly index: number;
  readonly kind: "text" | "refusal";
  emitted: number;
  annotations: number;
}

class MessageReader extends ItemReader {
  #open: OpenPart | null = null;
  #next = 0;

  override read(type: string, event: JsonObject): void {
    const index = typeof event["content_index"] === "number" ? event["content_index"] : 0;
    switch (type) {
      case "response.content_part.added":
        this.#part(index, objectOf(event["part"]));
        return;
      case "response.content_part.done":
        this.#part(index, objectOf(event["part"]));
        this.#close(index);
        return;
      case "response.output_text.delta":
      case "response.refusal.delta":
        if (!isEmptyValue(event["logprobs"])) this.source.warn(logprobsDropped);
        this.#delta(index, type === "response.refusal.delta" ? "refusal" : "text", textOf(event["delta"]) ?? "");
        return;
      case "response.output_text.done":
        this.#emitMissing(index, "text", textOf(event["text"]) ?? "");
        return;
      case "response.refusal.done":
        this.#emitMissing(index, "refusal", textOf(event["refusal"]) ?? "");
        return;
      case "response.output_text.annotation.added":
        this.#annotate(index, [event["annotation"]]);
        return;
      default:
        warnOfUnknownType("events", type, this.source.warn);
    }
  }

  done(item: JsonObject): void {
    arrayOf(item["content"]).forEach((part, index) => {
      this.#part(index, objectOf(part));
    });
    if (this.#open !== null) this.#close(this.#open.index);
  }

  #part(index: number, part: JsonObject): void {
    if (part["type"] === "refusal") {
      this.#emitMissing(index, "refusal", textOf(part["refusal"]) ?? "");
      return;
    }
    const text = textOf(part["text"]);
    if (text === null) return;
    this.#emitMissing(index, "text", text);
    if (this.#open?.index === index) this.#annotate(index, arrayOf(part["annotations"]).slice(this.#open.annotations));
  }

  #annotate(index: number, annotations: readonly unknown[]): void {
    if (annotations.length === 0) return;
    const open = this.#openPart(index, "text");
    if (open === null) return;
    open.annotations += annotations.length;
    for (const annotation of annotations) {
      const citation = readAnnotation(objectOf(annotation), this.source.warn);
      if (citation !== null) this.emit({ kind: "block-citation", citation });
    }
  }

  /** Emits the rest of a complete text. */
  #emitMissing(index: number, kind: "text" | "refusal", text: string): void {
    const open = this.#openPart(index, kind);
    if (open !== null && text.length > open.emitted) this.#delta(index, kind, text.slice(open.emitted));
  }

  #delta(index: number, kind: "text" | "refusal", text: string): void {
    const open = this.#openPart(index, kind);
    if (open === null || text === "") return;
    open.emitted += text.length;
    this.emit({ kind: "block-delta", text });
  }

  /** Opens the part if it is new; null if it is closed. */
  #openPart(index: number, kind: "text" | "refusal"): OpenPart | null {
    if (this.#open?.index === index) return this.#open;
    if (index < this.#next) return null;
    if (this.#open !== null) this.#close(this.#open.index);
    this.#next = index + 1;
    this.#open = { index, kind, emitted: 0, annotations: 0 };
    this.emit({ kind: "block-start", block: { kind } });
    return this.#open;
  }

  #close(index: number): void {
    if (this.#open?.index !== index) return;
    this.#open = null;
    this.emit({ kind: "block-end" });
  }
}

const logprobsDropped = "logprobs in the answer cannot be translated and were dropped";

class CallReader extends ItemReader {
  #emitted = 0;
  /** Arguments other than white space were emitted. */
  #hasArguments = false;

  override read(type: string, event: JsonObject): void {
    if (type === "response.function_call_arguments.delta") this.#emitDelta(textOf(event["delta"]) ?? "");
    else if (type === "response.function_call_arguments.done") this.#emitMissing(textOf(event["arguments"]) ?? "");
  }

  done(item: JsonObject): void {
    const text = textOf(item["arguments"]) ?? "";
    if (text.trim() !== "") this.#emitMissing(text);
    if (!this.#hasArguments) this.emit({ kind: "block-delta", text: "{}" });
    this.emit({ kind: "block-end" });
  }

  #emitMissing(text: string): void {
    if (text.length > this.#emitted) this.#emitDelta(text.slice(this.#emitted));
  }

  #emitDelta(text: string): void {
    if (text === "") return;
    this.#emitted += text.length;
    this.#hasArguments ||= text.trim() !== "";
    this.emit({ kind: "block-delta", text });
  }
}

/** The text becomes JSON arguments once it is complete. */
class CustomCallReader extends ItemReader {
  #input = "";

  override read(type: string, event: JsonObject): void {
    if (type === "response.custom_tool_call_input.delta") this.#input += textOf(event["delta"]) ?? "";
    else if (type === "response.custom_tool_call_input.done") this.#input = textOf(event["input"]) ?? this.#input;
  }

  done(item: JsonObject): void {
    this.emit({ kind: "block-delta", text: customArguments(textOf(item["input"]) ?? this.#input) });
    this.emit({ kind: "block-end" });
  }
}

/** Opens with the first text or the seal. */
class ReasoningReader extends ItemReader {
  #open = false;
  /** The source in use (summary or raw reasoning, the first to arrive) and its part. */
  #kind: string | null = null;
  #part = 0;
  #emitted = false;

  override read(type: string, event: JsonObject): void {
    if (type === "response.reasoning_summary_text.delta") this.#delta(type, event["summary_index"], event["delta"]);
    else if (type === "response.reasoning_text.delta") this.#delta(type, event["content_index"], event["delta"]);
  }

  done(item: JsonObject): void {
    const thoughts = this.#emitted ? "" : thoughtsOf(item);
    if (thoughts !== "") this.#emitText(thoughts);
    const data = textOf(item["encrypted_content"]) ?? "";
    if (data !== "") {
      this.#openBlock();
      const itemId = textOf(item["id"]);
      const seal = { dialect: "openai-responses" as const, account: this.source.account, data, itemId };
      this.emit({ kind: "block-seal", seal });
    }
    if (this.#open) this.emit({ kind: "block-end" });
  }

  #delta(kind: string, index: unknown, delta: unknown): void {
    const text = textOf(delta) ?? "";
    this.#kind ??= kind;
    if (text === "" || kind !== this.#kind) return;
    const part = typeof index === "number" ? index : 0;
    if (this.#emitted && part !== this.#part) this.#emitText("\n\n");
    this.#part = part;
    this.#emitText(text);
  }

  #emitText(text: string): void {
    this.#openBlock();
    this.#emitted = true;
    this.emit({ kind: "block-delta", text });
  }

  #openBlock(): void {
    if (this.#open) return;
    this.#open = true;
    this.emit({ kind: "block-start", block: { kind: "reasoning", redacted: false } });
  }
}

/** The summary, else the raw reasoning. */
export function thoughtsOf(item: JsonObject): string {
  return paragraphsOf(item["summary"]) || paragraphsOf(item["content"]);
}

function paragraphsOf(parts: unknown): string {
  return arrayOf(parts)
    .map((part) => textOf(objectOf(part)["text"]) ?? "")
    .filter((text) => text !== "")
    .join("\n\n");
}

class ImageReader extends ItemReader {
  done(item: JsonObject): void {
    const data = textOf(item["result"]) ?? "";
    if (data === "") return;
    const mediaType = `image/${textOf(item["output_format"]) ?? "png"}`;
    this.emit({ kind: "block-start", block: { kind: "image", source: { kind: "base64", mediaType, data } } });
    this.emit({ kind: "block-end" });
  }
}

function readAnnotation(annotation: JsonObject, warn: Warn): Citation | null {
  switch (annotation["type"]) {
    case "url_citation": {
      const span = spanOf(annotation["start_index"], annotation["end_index"]);
      return urlCitation(textOf(annotation["url"]), textOf(annotation["title"]), { span });
    }
    case "file_citation": {
      // The index is the end of the cited text.
      const at = annotation["index"];
      return fileCitation(fileOf(annotation), { span: spanOf(at, at) });
    }
    case "container_file_citation":
      return fileCitation(fileOf(annotation), { span: spanOf(annotation["start_index"], annotation["end_index"]) });
    default:
      warnOfUnknownType("annotations", annotation["type"], warn);
      return null;
  }
}

function fileOf(annotation: JsonObject) {
  return { fileId: textOf(annotation["file_id"]), name: textOf(annotation["filename"]), index: null };
}
