import { type Answer, type AnswerEvent, bounds, type FinishReason } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { unsupportedReply, upstreamFault } from "../errors/upstream-errors.ts";
import { signatureIn } from "../gemini/google-extras.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseObject, parseReply, textOf } from "../json/value.ts";
import { AnswerReader, collectAnswer } from "../turn/answer-events.ts";
import { argumentsOrEmpty, decodeName } from "../turn/tool-calls.ts";
import { warnOfUnreadMembers } from "../turn/warnings.ts";
import {
  type CallPiece,
  callsOf,
  imagesOf,
  type Piece,
  piecesOf,
  readAnnotations,
  signatureSeal,
} from "./answer-pieces.ts";
import { chatFailure } from "./reply.ts";
import { readChatUsage } from "./usage.ts";

/** Reads the first choice. Throws Failure upstream_error without one. */
export function readChatAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const reply = parseReply(body);
  if (!isObject(arrayOf(reply["choices"])[0])) {
    const error = reply["error"] ?? null;
    throw error === null ? upstreamFault("The upstream's answer contains no choice.") : chatFailure(error);
  }
  return collectAnswer(source, (emit) => {
    const reader = new ChatEventReader(emit, source);
    reader.take(reply, true);
    reader.end();
  });
}

/** Reads chat.completion.chunk events. The finish is emitted at the end, since usage may come before or after it. */
export class ChatEventReader extends AnswerReader {
  readonly #calls: CallQueue;
  #open: Piece["kind"] | null = null;
  #refused = false;
  #finish: string | null = null;

  constructor(emit: (event: AnswerEvent) => void, source: AnswerSource) {
    super(emit, source);
    this.#calls = new CallQueue(emit, source);
  }

  read(data: string): void {
    if (this.ended || data === "") return;
    if (data.length < 16 && data.trim() === "[DONE]") this.end();
    else this.#readChunk(data);
  }

  #readChunk(data: string): void {
    const chunk = parseObject(data);
    if (chunk === null) throw upstreamFault("The upstream sent an event that is not a JSON object.");
    const error = chunk["error"] ?? (chunk["object"] === "error" ? chunk : null);
    if (error !== null) {
      this.fail(chatFailure(error));
      return;
    }
    this.take(chunk);
  }

  /** `isWhole`: the first choice counts, at any index. */
  take(chunk: JsonObject, isWhole = false): void {
    warnOfUnreadMembers(chunk, replyMembers, "the answer", this.source.warn);
    const choices = arrayOf(chunk["choices"]);
    const choice = isWhole ? choices.find(isObject) : choices.find(isFirst);
    if (choice !== undefined) this.#readChoice(choice, chunk, isWhole);
    // Moonshot puts usage into the last choice.
    const reported = chunk["usage"] ?? choice?.["usage"] ?? null;
    if (reported !== null) this.#readUsage(reported, chunk);
  }

  end(): void {
    if (this.ended) return;
    if (!this.started) throw upstreamFault("The upstream's stream ended without an answer.");
    this.#close();
    const reason = readFinish(this.#finish, { calls: this.#calls.count > 0, refusal: this.#refused });
    this.finish({ reason, stopSequence: null });
  }

  #readChoice(choice: JsonObject, chunk: JsonObject, isWhole: boolean): void {
    this.#start(chunk);
    // Perplexity adds an empty delta to whole answers.
    const delta = objectOf(isWhole ? choice["message"] : (choice["delta"] ?? choice["message"]));
    warnOfUnreadMembers(choice, choiceMembers, "a choice", this.source.warn);
    warnOfUnreadMembers(delta, messageMembers, "a message", this.source.warn);
    const pieces = piecesOf(delta);
    const cites = "annotations" in delta;
    // Citations belong to the last text.
    const citing = cites ? pieces.findLast(({ kind }) => kind === "text") : undefined;
    for (const piece of pieces) {
      this.#emitText(piece);
      if (piece === citing) this.#cite(delta);
    }
    if (cites && citing === undefined) this.#cite(delta);
    for (const source of imagesOf(delta)) {
      this.#close();
      this.emit({ kind: "block-start", block: { kind: "image", source } });
      this.emit({ kind: "block-end" });
    }
    const signature = signatureIn(delta);
    if (signature !== null) this.#addSignature(signature);
    if ("tool_calls" in delta || "function_call" in delta) this.#readCalls(delta, isWhole);
    const finish = textOf(choice["finish_reason"]) || null;
    if (finish === null) return;
    this.#finish = finish;
    this.#close();
  }

  /** Emitted as a reasoning block without text. */
  #addSignature(signature: string): void {
    if (this.#open !== "reasoning") {
      this.#close();
      this.emit({ kind: "block-start", block: { kind: "reasoning", redacted: false } });
    }
    this.emit({ kind: "block-seal", seal: signatureSeal(signature, this.source.account) });
    this.#open = null;
    this.emit({ kind: "block-end" });
  }

  #cite(delta: JsonObject): void {
    const { warn } = this.source;
    for (const citation of readAnnotations(delta, warn)) {
      if (this.#open === "text") this.emit({ kind: "block-citation", citation });
      else warn(citationsDropped);
    }
  }

  /** Each entry of a message is a call; in deltas several may belong to one. */
  #readCalls(delta: JsonObject, isWhole: boolean): void {
    callsOf(delta).forEach((piece, position) => {
      if (this.#open !== null) this.#close();
      if (!isWhole) {
        this.#calls.add(piece);
        return;
      }
      this.#calls.add({ ...piece, index: position, argumentsText: argumentsOrEmpty(piece.argumentsText) }, true);
      this.#calls.flush();
    });
  }

  #emitText({ kind, text }: Piece): void {
    if (this.#open !== kind) {
      this.#close();
      this.#open = kind;
      if (kind === "refusal") this.#refused = true;
      this.emit({ kind: "block-start", block: kind === "reasoning" ? { kind, redacted: false } : { kind } });
    }
    this.emit({ kind: "block-delta", text });
  }

  /** Ends the open text or calls. */
  #close(): void {
    if (this.#calls.hasCalls) this.#calls.flush();
    if (this.#open === null) return;
    this.#open = null;
    this.emit({ kind: "block-end" });
  }

  /** Azure leaves names empty. */
  #start(chunk: JsonObject): void {
    this.emitStart(textOf(chunk["id"]) || null, textOf(chunk["model"]) || null);
  }

  #readUsage(reported: unknown, chunk: JsonObject): void {
    const reading = readChatUsage(reported, this.source.usage);
    if (reading === null) return;
    this.#start(chunk);
    this.emit({ kind: "usage", usage: reading.usage });
  }
}

/** Azure starts with a chunk without choices; some vendors send no index. */
function isFirst(choice: unknown): choice is JsonObject {
  return isObject(choice) && (choice["index"] ?? 0) === 0;
}

const citationsDropped = "citations without a text in the answer were dropped";

function readFinish(reason: string | null, has: { readonly calls: boolean; readonly refusal: boolean }): FinishReason {
  const read = (reason === null ? undefined : finishes.get(reason)) ?? "stop";
  if (has.refusal && (read === "stop" || read === "content-filter")) return "refusal";
  if (has.calls && read === "stop") return "tool-calls";
  return read === "tool-calls" && !has.calls ? "stop" : read;
}

/** Reasons of OpenAI, then of other vendors. Unknown ones count as "stop". */
const finishes: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["content_filter", "content-filter"],
  ["max_tokens", "length"],
  ["model_length", "context-length"],
  ["model_context_window_exceeded", "context-length"],
  ["tool_use", "tool-calls"],
  ["sensitive", "content-filter"],
  ["insufficient_system_resource", "error"],
  ["network_error", "error"],
  ["abort", "error"],
  ["error", "error"],
]);

/** Members that are read or need no translation. */
const replyMembers: ReadonlySet<string> = new Set([
  ...["id", "object", "created", "model", "choices", "usage", "service_tier", "system_fingerprint", "provider"],
  ...["request_id", "kind", "prompt_filter_results", "x_groq", "prompt_logprobs", "prompt_token_ids"],
  ...["kv_transfer_params", "timings", "obfuscation", "error"],
]);
const choiceMembers: ReadonlySet<string> = new Set([
  ...["index", "message", "delta", "finish_reason", "native_finish_reason", "stop_reason", "usage"],
  ...["content_filter_results", "content_filter_offsets", "token_ids", "flags", "matched_stop"],
]);
const messageMembers: ReadonlySet<string> = new Set([
  ...["role", "content", "refusal", "tool_calls", "function_call", "annotations", "images", "name"],
  ...["reasoning_content", "reasoning", "reasoning_details", "extra_content", "provider_specific_fields"],
]);

class QueuedCall {
  id = "";
  name = "";
  signature: string | null = null;
  open = false;
  /** Arguments other than white space were emitted. */
  hasArguments = false;
  closed = false;
  buffered: string[] = [];
}

/**
 * Puts interleaved tool calls in order: the first streams, the others are buffered. A call ends only when the answer moves to something
 * else.
 */
class CallQueue {
  count = 0;
  readonly #emit: (event: AnswerEvent) => void;
  readonly #source: AnswerSource;
  readonly #byIndex = new Map<number, QueuedCall>();
  #waiting: QueuedCall[] = [];
  #last: QueuedCall | null = null;
  #held = 0;

  constructor(emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.#emit = emit;
    this.#source = source;
  }

  get hasCalls(): boolean {
    return this.#waiting.length > 0;
  }

  /** `isWhole`: the whole answer is here, so its size is the only bound. */
  add(piece: CallPiece, isWhole = false): void {
    const call = this.#find(piece) ?? this.#begin(piece.index, isWhole);
    if (call.closed) {
      if (piece.argumentsText === "") return;
      throw upstreamFault("The upstream continued a tool call after its end.");
    }
    if (call.id === "") call.id = piece.id;
    if (call.name === "") call.name = piece.name;
    if (piece.signature !== null) call.signature = piece.signature;
    if (call === this.#waiting[0] && !call.open && call.name !== "") this.#open(call);
    if (piece.argumentsText === "") return;
    if (call.open) this.#emitArguments(call, piece.argumentsText);
    else this.#buffer(call, piece.argumentsText);
  }

  /** Ends all waiting calls in order. */
  flush(): void {
    for (const call of this.#waiting) {
      call.closed = true;
      if (call.name === "" && call.buffered.length === 0) continue;
      if (call.name === "") throw upstreamFault("The upstream called a tool without naming it.");
      if (!call.open) this.#open(call);
      if (!call.hasArguments) this.#emitArguments(call, "{}");
      const { signature } = call;
      if (signature !== null) {
        this.#emit({ kind: "block-seal", seal: signatureSeal(signature, this.#source.account) });
      }
      this.#emit({ kind: "block-end" });
    }
    this.#waiting = [];
    this.#held = 0;
  }

  /** The call that a piece continues; null if it begins one. */
  #find(piece: CallPiece): QueuedCall | null {
    if (piece.index === null && piece.id === "") return piece.name === "" ? this.#last : null;
    const call =
      piece.index === null ? this.#waiting.find((waiting) => waiting.id === piece.id) : this.#byIndex.get(piece.index);
    if (call === undefined) return null;
    // Some vendors send all calls under index 0. Another name, or another id with a name, begins a call.
    const renamed = piece.name !== "" && call.name !== "" && piece.name !== call.name;
    const reissued = piece.name !== "" && piece.id !== "" && call.id !== "" && piece.id !== call.id;
    return renamed || reissued ? null : call;
  }

  #begin(index: number | null, isWhole: boolean): QueuedCall {
    this.count++;
    if (!isWhole && this.count > bounds.answerCallsMax)
      throw unsupportedReply("The upstream called too many tools at once.");
    const call = new QueuedCall();
    if (index !== null) this.#byIndex.set(index, call);
    this.#waiting.push(call);
    this.#last = call;
    return call;
  }

  #buffer(call: QueuedCall, text: string): void {
    this.#held += text.length;
    if (this.#held > bounds.heldArgumentsCharactersMax)
      throw unsupportedReply("The upstream's tool calls are too long.");
    call.buffered.push(text);
  }

  #open(call: QueuedCall): void {
    call.open = true;
    if (call.id === "") call.id = this.#source.newId("call_");
    this.#emit({ kind: "block-start", block: { kind: "tool-call", id: call.id, name: decodeName(call.name) } });
    if (call.buffered.length > 0) this.#emitArguments(call, call.buffered.join(""));
    call.buffered = [];
  }

  #emitArguments(call: QueuedCall, text: string): void {
    call.hasArguments ||= text.trim() !== "";
    this.#emit({ kind: "block-delta", text });
  }
}
