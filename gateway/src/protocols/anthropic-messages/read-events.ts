import {
  type Answer,
  type AnswerEvent,
  type BlockHead,
  bounds,
  type Citation,
  type FinishReason,
} from "#core/index.ts";
import type { AnswerSource, Warn } from "../codec.ts";
import { invalidEvent, invalidReply, unsupportedReply } from "../errors/upstream-errors.ts";
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
import { CitationBuffer, fileCitation, urlCitation } from "../turn/citations.ts";
import { decodeName } from "../turn/tool-calls.ts";
import { warnOfCaller, warnOfUnknownType, warnOfUnreadMembers } from "../turn/warnings.ts";
import { messagesFailure } from "./error.ts";
import { mergeUsage, readMessagesUsage } from "./reply.ts";

/** Blocks of server tools are dropped. */
export function readMessagesAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const message = parseReply(body);
  if (!Array.isArray(message["content"])) {
    if (isObject(message["error"])) throw messagesFailure(message["error"]);
    throw invalidReply("is not a message");
  }
  return collectAnswer(source, (emit) => new MessagesEventReader(emit, source).take(message));
}

/** Unknown reasons count as "stop". `compaction` (beta) ends a turn that continues when it is sent again. */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["max_tokens", "length"],
  ["stop_sequence", "stop-sequence"],
  ["tool_use", "tool-calls"],
  ["pause_turn", "pause"],
  ["compaction", "pause"],
  ["refusal", "refusal"],
  ["model_context_window_exceeded", "context-length"],
]);

const messageMembers: ReadonlySet<string> = new Set([
  ...["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage", "diagnostics"],
]);

const blockMembers: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ["text", new Set(["type", "text", "citations"])],
  ["thinking", new Set(["type", "thinking", "signature"])],
  ["redacted_thinking", new Set(["type", "data"])],
  ["tool_use", new Set(["type", "id", "name", "input", "caller"])],
]);

function warnOfBlock(block: JsonObject, warn: Warn): void {
  const read = blockMembers.get(block["type"]);
  if (read === undefined) return;
  warnOfUnreadMembers(block, read, "a block", warn);
  warnOfCaller(block, warn);
}

/** A citation applies to the whole block. */
function readCitation(citation: JsonObject, warn: Warn): Citation | null {
  const quote = textOf(citation["cited_text"]);
  switch (citation["type"]) {
    case "web_search_result_location":
      return urlCitation(textOf(citation["url"]), textOf(citation["title"]), { quote });
    case "search_result_location":
      return urlCitation(textOf(citation["source"]), textOf(citation["title"]), { quote });
    case "char_location":
    case "page_location":
    case "content_block_location": {
      const name = textOf(citation["document_title"]);
      return fileCitation(
        { fileId: textOf(citation["file_id"]), name, index: countOf(citation["document_index"]) },
        { quote },
      );
    }
    default:
      warnOfUnknownType("citations", citation["type"], warn);
      return null;
  }
}

/** A content block between its start and stop. Deltas are buffered until it is opened. */
class OpenBlock {
  readonly index: number;
  stopped = false;

  readonly #emit: (event: AnswerEvent) => void;
  readonly #source: AnswerSource;
  /** Null for blocks of server tools, which are dropped. */
  readonly #head: BlockHead | null;
  readonly #input: string;
  #opened = false;
  #buffered: string[] = [];
  #hasText = false;
  #signature: string;
  readonly #citations: CitationBuffer;

  constructor(index: number, content: JsonObject, emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.index = index;
    this.#emit = emit;
    this.#source = source;
    this.#citations = new CitationBuffer(source.warn);
    this.#head = headOf(content, source);
    warnOfBlock(content, source.warn);
    if (this.#head?.kind === "text") {
      for (const citation of arrayOf(content["citations"])) this.#cite(objectOf(citation));
    }
    this.#signature = textOf(content["signature"] ?? content["data"]) ?? "";
    const early = textOf(content["text"] ?? content["thinking"]) ?? "";
    if (early !== "") this.#buffered.push(early);
    this.#input = JSON.stringify(content["input"] || {});
  }

  open(): void {
    if (this.#head === null || this.#opened) return;
    this.#opened = true;
    this.#emit({ kind: "block-start", block: this.#head });
    if (this.#buffered.length > 0) this.#emitText(this.#buffered.join(""));
    this.#buffered = [];
  }

  /** Returns the length of text that had to be buffered. */
  add(delta: JsonObject): number {
    if (this.#head === null) return 0;
    if (delta["type"] === "citations_delta") {
      this.#cite(objectOf(delta["citation"]));
      return 0;
    }
    if (delta["type"] === "signature_delta") {
      this.#signature += textOf(delta["signature"]) ?? "";
      return 0;
    }
    const text = textOf(delta["text"] ?? delta["partial_json"] ?? delta["thinking"]) ?? "";
    if (!textDeltas.has(delta["type"])) warnOfUnknownType("pieces", delta["type"], this.#source.warn);
    if (text === "") return 0;
    if (this.#opened) {
      this.#emitText(text);
      return 0;
    }
    this.#buffered.push(text);
    return text.length;
  }

  close(): void {
    const head = this.#head;
    if (head === null) return;
    // Some vendors send a call's whole input at its start.
    if (!this.#hasText && head.kind === "tool-call") this.#emitText(this.#input);
    if (head.kind === "reasoning" && this.#signature !== "") {
      const { account } = this.#source;
      const seal = { dialect: "anthropic-messages" as const, account, data: this.#signature, itemId: null };
      this.#emit({ kind: "block-seal", seal });
    }
    if (head.kind === "text") {
      for (const citation of this.#citations.take()) this.#emit({ kind: "block-citation", citation });
    }
    this.#emit({ kind: "block-end" });
  }

  #cite(reported: JsonObject): void {
    const citation = readCitation(reported, this.#source.warn);
    if (citation !== null) this.#citations.add(citation);
  }

  #emitText(text: string): void {
    this.#hasText ||= text.trim() !== "";
    this.#emit({ kind: "block-delta", text });
  }
}

const textDeltas: ReadonlySet<unknown> = new Set(["text_delta", "input_json_delta", "thinking_delta"]);

function headOf(content: JsonObject, source: AnswerSource): BlockHead | null {
  switch (content["type"]) {
    case "text":
      return { kind: "text" };
    case "thinking":
      return { kind: "reasoning", redacted: false };
    case "redacted_thinking":
      return { kind: "reasoning", redacted: true };
    case "tool_use": {
      const name = decodeName(textOf(content["name"]) ?? "");
      return { kind: "tool-call", id: textOf(content["id"]) ?? source.newId("toolu_"), name };
    }
    default:
      warnOfUnknownType("blocks", content["type"], source.warn);
      return null;
  }
}

/** Reads message events. Interleaved blocks, which only other vendors send, are put in order. */
export class MessagesEventReader extends AnswerReader {
  /** In order of their start; the first is open. */
  #blocks: OpenBlock[] = [];
  #waitingSize = 0;
  #reported: JsonObject = {};
  #finished = false;

  read(data: string): void {
    if (this.ended || data === "[DONE]") return;
    const event = parseObject(data);
    if (event === null) throw invalidEvent("is not a JSON object");
    switch (event["type"]) {
      case "message_start":
        this.#start(objectOf(event["message"]));
        break;
      case "content_block_start":
        this.#startBlock(indexOf(event), objectOf(event["content_block"]));
        break;
      case "content_block_delta":
        this.#delta(indexOf(event), objectOf(event["delta"]));
        break;
      case "content_block_stop":
        this.#stopBlock(indexOf(event));
        break;
      case "message_delta":
        warnOfUnreadMembers(event, endMembers, "a message", this.source.warn);
        this.#readEnd(objectOf(event["delta"]), event["usage"]);
        break;
      case "error":
        this.fail(messagesFailure(event["error"]));
        break;
      default:
        if (event["type"] === undefined && isObject(event["error"])) this.fail(messagesFailure(event["error"]));
        else if (!silentEvents.has(event["type"])) warnOfUnknownType("events", event["type"], this.source.warn);
    }
  }

  /** Reads a whole answer. */
  take(message: JsonObject): void {
    this.#start(message);
    for (const [index, content] of arrayOf(message["content"]).filter(isObject).entries()) {
      this.#startBlock(index, content);
      this.#stopBlock(index);
    }
    // A whole answer is complete, even without a stop reason.
    this.#readEnd({ ...message, stop_reason: message["stop_reason"] ?? "end_turn" }, null);
    this.end();
  }

  end(): void {
    if (this.ended) return;
    this.emitStart();
    this.#closeAll();
    this.finish(this.#finished ? null : { reason: "stop", stopSequence: null });
  }

  #start(message: JsonObject): void {
    if (this.emitStart(textOf(message["id"]), textOf(message["model"]))) this.#report(message["usage"]);
  }

  #startBlock(index: number, content: JsonObject): void {
    this.emitStart();
    const block = new OpenBlock(index, content, this.emit, this.source);
    this.#blocks.push(block);
    if (this.#blocks.length === 1) block.open();
  }

  #delta(index: number, delta: JsonObject): void {
    let block = this.#blocks.find((one) => one.index === index && !one.stopped);
    if (block === undefined) {
      const type = deltaBlocks.get(delta["type"]);
      if (type === undefined) {
        if (delta["type"] === "input_json_delta") throw invalidEvent("belongs to a block that was not started");
        return;
      }
      this.#startBlock(index, { type });
      block = this.#blocks.at(-1);
    }
    const size = block?.add(delta) ?? 0;
    this.#waitingSize += size;
    if (this.#waitingSize > bounds.replyBytesMax)
      throw unsupportedReply("The upstream interleaves more content than can be buffered.");
  }

  #stopBlock(index: number): void {
    const block = this.#blocks.find((one) => one.index === index && !one.stopped);
    if (block === undefined) return;
    block.stopped = true;
    while (this.#blocks[0]?.stopped === true) {
      this.#blocks[0].close();
      this.#blocks.shift();
      this.#blocks[0]?.open();
    }
  }

  #closeAll(): void {
    for (const block of [...this.#blocks]) this.#stopBlock(block.index);
  }

  #readEnd(delta: JsonObject, usage: unknown): void {
    this.emitStart();
    warnOfUnreadMembers(delta, messageMembers, "a message", this.source.warn);
    this.#report(usage);
    if (this.#finished || textOf(delta["stop_reason"]) === null) return;
    this.#closeAll();
    this.#finished = true;
    const reason = finishReasons.get(textOf(delta["stop_reason"]) ?? "") ?? "stop";
    this.emit({ kind: "finish", finish: { reason, stopSequence: textOf(delta["stop_sequence"]) } });
  }

  #report(usage: unknown): void {
    if (!isObject(usage)) return;
    this.#reported = mergeUsage(this.#reported, usage);
    const reading = readMessagesUsage(this.#reported);
    if (reading !== null) this.emit({ kind: "usage", usage: reading.usage });
  }
}

const endMembers: ReadonlySet<string> = new Set(["type", "delta", "usage"]);
const silentEvents: ReadonlySet<unknown> = new Set(["ping", "message_stop"]);

/** The block type for deltas without a content_block_start. */
const deltaBlocks: ReadonlyMap<unknown, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
]);

function indexOf(event: JsonObject): number {
  const index = countOf(event["index"]);
  if (index === null) throw invalidEvent("has no index");
  return index;
}
