import {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  type BlockHead,
  bounds,
  Failure,
  type MediaSource,
  type Seal,
} from "#core/index.ts";
import type { AnswerContext, Warn } from "../codec.ts";
import { type JsonObject, jsonBytes, withoutNulls } from "../json/value.ts";
import { AnswerWriter } from "../turn/answer-writer.ts";
import { emptySeal } from "../turn/seal-text.ts";
import { argumentsObject } from "../turn/tool-calls.ts";
import { warnOnce } from "../turn/warnings.ts";
import { writeSignature } from "./encodings.ts";
import { type CitedText, writeGrounding } from "./grounding.ts";
import { finishReasonOf } from "./read-events.ts";
import { writeGeminiUsage } from "./usage.ts";

export function writeGeminiAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  const warn = warnOnce(context.warn);
  const parts: JsonObject[] = [];
  const cited: CitedText[] = [];
  for (const block of answer.blocks) {
    const part = writePart(block, warn);
    if (part === null) continue;
    if (block.kind === "text" && block.citations !== undefined) {
      cited.push({ text: block.text, partIndex: parts.length, fromByte: 0, citations: block.citations });
    }
    parts.push(part);
  }
  const groundingMetadata = writeGrounding(cited, warn);
  // Clients read parts[0].text unchecked.
  const content = { role: "model", parts: parts.length === 0 ? [{ text: "" }] : parts };
  const response = {
    candidates: [withoutNulls({ content, finishReason: finishReasonOf(answer.finish), groundingMetadata, index: 0 })],
    ...(answer.usage === null ? {} : { usageMetadata: writeGeminiUsage(answer.usage) }),
    modelVersion: answer.model ?? context.model,
    responseId: answer.id ?? context.newId("resp_"),
  };
  return jsonBytes(response);
}

/** Null for an empty block. */
function writePart(block: AnswerBlock, warn: Warn): JsonObject | null {
  switch (block.kind) {
    case "text":
    case "refusal":
      return block.text === "" ? null : { text: block.text };
    case "reasoning":
      return writeThought(block);
    case "tool-call": {
      const functionCall = { id: block.id, name: block.name, args: argumentsObject(block.argumentsText, warn) };
      return { functionCall, thoughtSignature: writeSignature(block.seal ?? emptySeal(null)) };
    }
    case "image":
      return writePicture(block.source, warn);
  }
}

function writeThought(block: Extract<AnswerBlock, { kind: "reasoning" }>): JsonObject | null {
  const { text, seal, redacted } = block;
  if (seal === null) return text === "" ? null : { text, thought: true };
  const thoughtSignature = writeSignature(seal, redacted);
  // Gemini's own signature without text belongs to the text before it.
  if (text === "" && seal.dialect === "gemini") return { text, thoughtSignature };
  return { text, thought: true, thoughtSignature };
}

function writePicture(source: MediaSource, warn: Warn): JsonObject | null {
  if (source.kind === "base64") return { inlineData: { mimeType: source.mediaType, data: source.data } };
  if (source.kind === "url") {
    return { fileData: { mimeType: source.mediaType ?? "image/png", fileUri: source.url } };
  }
  warn("a picture that only the upstream can read was dropped");
  return null;
}

/**
 * Writes an answer as GenerateContentResponse chunks. Calls are sent whole. The finish waits for the end, so that the last chunk has the
 * final usage.
 */
export class GeminiEventWriter extends AnswerWriter {
  #head: BlockHead | null = null;
  #arguments: string[] = [];
  #argumentsLength = 0;
  #seal: Seal | null = null;
  /** The open text, the bytes before it, and texts with citations. */
  #texts: string[] = [];
  #textBytes = 0;
  readonly #cited: CitedText[] = [];
  #id: string | null = null;
  #model: string | null = null;
  /** End of every chunk; null if it must be rendered again. */
  #tail: string | null = null;

  constructor(context: AnswerContext) {
    super({ ...context, warn: warnOnce(context.warn) });
  }

  override write(event: AnswerEvent): string {
    if (event.kind === "usage") this.#tail = null;
    return super.write(event);
  }

  protected start(id: string | null, model: string | null): string {
    this.#id = id;
    this.#model = model;
    this.#tail = null;
    return "";
  }

  protected startBlock(head: BlockHead): string {
    this.#head = head;
    this.#seal = null;
    return head.kind === "image" ? this.#block(head) : "";
  }

  protected delta(text: string): string {
    const { kind } = this.#head ?? {};
    if (kind === "reasoning") return this.#chunk({ text, thought: true });
    if (kind === "text") this.#texts.push(text);
    if (kind !== "tool-call") return this.#chunk({ text });
    this.#argumentsLength += text.length;
    if (this.#argumentsLength > bounds.eventBytesMax) {
      throw new Failure("upstream_error", `A tool call has more than ${bounds.eventBytesMax} bytes of arguments.`);
    }
    this.#arguments.push(text);
    return "";
  }

  protected override seal(seal: Seal): string {
    this.#seal = seal;
    return "";
  }

  protected override endBlock(): string {
    const head = this.#head;
    const seal = this.#seal;
    this.#head = null;
    if (head?.kind === "tool-call") {
      const argumentsText = this.#arguments.join("");
      this.#arguments = [];
      this.#argumentsLength = 0;
      return this.#block({ ...head, argumentsText, seal });
    }
    if (head?.kind === "text") this.#endText();
    // The text was sent already; its signature follows on an empty part.
    if (head?.kind === "reasoning" && seal !== null) return this.#block({ ...head, text: "", seal });
    return "";
  }

  /** Clients join the texts of a stream, so sources are counted across them. */
  #endText(): void {
    const text = this.#texts.join("");
    const citations = this.citations.take();
    this.#texts = [];
    if (citations.length > 0) this.#cited.push({ text, partIndex: 0, fromByte: this.#textBytes, citations });
    this.#textBytes += Buffer.byteLength(text);
  }

  protected end(): string {
    const grounding = writeGrounding(this.#cited, this.context.warn);
    const sources = grounding === null ? "" : `,"groundingMetadata":${JSON.stringify(grounding)}`;
    const reason = this.finish === null ? "OTHER" : finishReasonOf(this.finish);
    return this.#chunk({ text: "" }, `,"finishReason":"${reason}"${sources}`);
  }

  #block(block: AnswerBlock): string {
    const part = writePart(block, this.context.warn);
    return part === null ? "" : this.#chunk(part);
  }

  #chunk(part: JsonObject, finish = ""): string {
    this.#tail ??= this.#writeTail();
    const content = `{"role":"model","parts":[${JSON.stringify(part)}]}`;
    return `data: {"candidates":[{"content":${content}${finish},"index":0}],${this.#tail}}\n\n`;
  }

  #writeTail(): string {
    this.#id ??= this.context.newId("resp_");
    const usage = this.usage === null ? "" : `"usageMetadata":${JSON.stringify(writeGeminiUsage(this.usage))},`;
    const model = JSON.stringify(this.#model ?? this.context.model);
    return `${usage}"modelVersion":${model},"responseId":${JSON.stringify(this.#id)}`;
  }
}
