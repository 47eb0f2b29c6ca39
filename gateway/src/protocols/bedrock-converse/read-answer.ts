import { type Answer, type BlockHead, bounds, type Citation, type FinishReason, type Seal } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { invalidEvent, invalidReply } from "../errors/upstream-errors.ts";
import {
  arrayOf,
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  parseObject,
  parseReply,
  textOf,
} from "../json/value.ts";
import { AnswerReader, collectAnswer } from "../turn/answer-events.ts";
import { fileCitation, urlCitation } from "../turn/citations.ts";
import { decodeName } from "../turn/tool-calls.ts";
import { warnOfUnknownType } from "../turn/warnings.ts";
import { converseStreamFailure, readConverseUsage } from "./wire.ts";

/** Reads a whole answer as a stream. */
export function readConverseAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const reply = parseReply(body);
  const message = objectOf(reply["output"])["message"];
  if (!isObject(message)) throw invalidReply("contains no message");
  return collectAnswer(source, (emit) => {
    const reader = new ConverseEventReader(emit, source);
    for (const [index, block] of arrayOf(message["content"]).entries()) reader.takeBlock(index, objectOf(block));
    reader.take({ messageStop: { stopReason: reply["stopReason"] }, metadata: { usage: reply["usage"] } });
    reader.end();
  });
}

/** Reads Converse events such as `{"contentBlockDelta":{…}}`. Text and reasoning blocks start with their first delta. */
export class ConverseEventReader extends AnswerReader {
  #open: { readonly index: number; readonly kind: BlockHead["kind"] } | null = null;
  /** The open block has text that is not blank. */
  #hasText = false;
  /** Signature of the open reasoning block; may come in pieces. */
  #signature = "";
  #stopReason: unknown = null;

  read(data: string): void {
    if (this.ended) return;
    const event = parseObject(data);
    if (event === null) throw invalidEvent("is not a JSON object");
    this.take(event);
  }

  take({ contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata, error }: JsonObject): void {
    if (isObject(error)) {
      this.fail(converseStreamFailure(error));
      return;
    }
    this.emitStart();
    if (isObject(contentBlockStart)) this.#startBlock(indexOf(contentBlockStart), objectOf(contentBlockStart["start"]));
    if (isObject(contentBlockDelta)) this.#readDelta(indexOf(contentBlockDelta), objectOf(contentBlockDelta["delta"]));
    if (isObject(contentBlockStop) && this.#open?.index === indexOf(contentBlockStop)) this.#close();
    if (isObject(messageStop)) this.#stopReason = messageStop["stopReason"];
    if (isObject(metadata)) {
      const reading = readConverseUsage(metadata["usage"]);
      if (reading !== null) this.emit({ kind: "usage", usage: reading.usage });
    }
  }

  /** Reads a block of a whole answer. Blocks that other dialects lack are dropped with a warning. */
  takeBlock(index: number, block: JsonObject): void {
    const { text, toolUse, reasoningContent, citationsContent, image } = block;
    this.emitStart();
    if (typeof text === "string") this.#text(index, text);
    else if (isObject(toolUse)) {
      this.#startBlock(index, { toolUse });
      this.#emitText(JSON.stringify(toolUse["input"] ?? {}));
    } else if (isObject(reasoningContent)) {
      const { redactedContent, reasoningText } = reasoningContent;
      const thought = typeof redactedContent === "string" ? { redactedContent } : objectOf(reasoningText);
      if (textOf(redactedContent) || textOf(thought["text"]) || textOf(thought["signature"]))
        this.#thought(index, thought);
    } else if (isObject(citationsContent)) {
      this.#text(index, arrayOf(citationsContent["content"]).map(textIn).join(""));
      const citations = arrayOf(citationsContent["citations"]).slice(0, bounds.blockCitationsMax);
      if (this.#open?.index === index) for (const citation of citations) this.#cite(index, objectOf(citation));
    } else this.#image(index, block, objectOf(image));
  }

  #image(index: number, block: JsonObject, image: JsonObject): void {
    const data = textOf(objectOf(image["source"])["bytes"]);
    const mediaType = `image/${textOf(image["format"]) ?? "png"}`;
    if (data !== null) this.#begin(index, { kind: "image", source: { kind: "base64", mediaType, data } });
    else warnOfUnknownType("blocks", Object.keys(block)[0], this.source.warn);
  }

  end(): void {
    if (this.ended) return;
    this.emitStart();
    this.#close();
    this.finish({ reason: reasons.get(textOf(this.#stopReason) ?? "") ?? "stop", stopSequence: null });
  }

  #startBlock(index: number, start: JsonObject): void {
    const { toolUse } = start;
    if (isObject(toolUse)) {
      const id = textOf(toolUse["toolUseId"]) ?? this.source.newId("call_");
      this.#begin(index, { kind: "tool-call", id, name: decodeName(textOf(toolUse["name"]) ?? "") });
      return;
    }
    const [type] = Object.keys(start);
    if (type !== undefined) warnOfUnknownType("blocks", type, this.source.warn);
  }

  #readDelta(index: number, delta: JsonObject): void {
    const { text, toolUse, reasoningContent, citation } = delta;
    if (typeof text === "string") this.#text(index, text);
    else if (isObject(reasoningContent)) this.#thought(index, reasoningContent);
    else if (isObject(toolUse)) {
      if (!this.#isOpen(index, "tool-call")) throw invalidEvent("has arguments for a call that is not open");
      this.#emitText(textOf(toolUse["input"]) ?? "");
    } else if (isObject(citation)) this.#cite(index, citation);
    else warnOfUnknownType("pieces", Object.keys(delta)[0], this.source.warn);
  }

  #isOpen(index: number, kind: BlockHead["kind"]): boolean {
    return this.#open?.index === index && this.#open.kind === kind;
  }

  #cite(index: number, reported: JsonObject): void {
    const citation = readCitation(reported);
    if (citation === null) return;
    if (this.#isOpen(index, "text")) this.emit({ kind: "block-citation", citation });
    else this.source.warn("a citation without its text was dropped");
  }

  #text(index: number, text: string): void {
    if (text === "") return;
    if (!this.#isOpen(index, "text")) this.#begin(index, { kind: "text" });
    this.#emitText(text);
  }

  #thought(index: number, { text, signature, redactedContent }: JsonObject): void {
    const redacted = textOf(redactedContent);
    if (!this.#isOpen(index, "reasoning")) this.#begin(index, { kind: "reasoning", redacted: redacted !== null });
    this.#emitText(textOf(text) ?? "");
    this.#signature += redacted ?? textOf(signature) ?? "";
  }

  #begin(index: number, block: BlockHead): void {
    this.#close();
    this.#open = { index, kind: block.kind };
    this.#hasText = false;
    this.emit({ kind: "block-start", block });
  }

  #emitText(text: string): void {
    if (text === "") return;
    this.#hasText ||= text.trim() !== "";
    this.emit({ kind: "block-delta", text });
  }

  #close(): void {
    if (this.#open === null) return;
    if (this.#open.kind === "tool-call" && !this.#hasText) this.#emitText("{}");
    if (this.#signature !== "") {
      const { account } = this.source;
      const seal: Seal = { dialect: "bedrock-converse", account, data: this.#signature, itemId: null };
      this.emit({ kind: "block-seal", seal });
    }
    this.#signature = "";
    this.#open = null;
    this.emit({ kind: "block-end" });
  }
}

function indexOf(event: JsonObject): number {
  return countOf(event["contentBlockIndex"]) ?? 0;
}

/** Unknown reasons count as "stop". The stop sequence is not reported. */
const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["tool_use", "tool-calls"],
  ["max_tokens", "length"],
  ["stop_sequence", "stop-sequence"],
  ["guardrail_intervened", "content-filter"],
  ["content_filtered", "content-filter"],
  ["malformed_model_output", "error"],
  ["malformed_tool_use", "error"],
  ["model_context_window_exceeded", "context-length"],
]);

function readCitation(citation: JsonObject): Citation | null {
  const quote = arrayOf(citation["sourceContent"]).map(textIn).join("");
  const extra = { quote: quote === "" ? null : quote };
  const title = textOf(citation["title"]);
  const from = textOf(citation["source"]);
  const location = objectOf(citation["location"]);
  if (isObject(location["web"])) return urlCitation(textOf(location["web"]["url"]), title, extra);
  if (isObject(location["searchResultLocation"])) return urlCitation(from, title, extra);
  const [place] = Object.values(location);
  return fileCitation({ fileId: null, name: title ?? from, index: countOf(objectOf(place)["documentIndex"]) }, extra);
}

function textIn(part: unknown): string {
  return textOf(objectOf(part)["text"]) ?? "";
}
