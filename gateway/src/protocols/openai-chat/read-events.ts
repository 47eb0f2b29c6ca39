import type { AnswerEvent } from "#core/index.ts";
import type { AnswerSource, EventReader } from "../codec.ts";
import { upstreamBroke } from "../errors/upstream-errors.ts";
import { signatureIn } from "../gemini/google-extras.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseObject } from "../json/value.ts";
import { warnOfUnread } from "../turn/warnings.ts";
import { readAnnotations } from "./annotations.ts";
import { callsOf, imagesOf, type Piece, piecesOf } from "./answer-pieces.ts";
import { CallQueue } from "./call-queue.ts";
import { readFinish } from "./finish.ts";
import { citationsLost, givenName, ofChoice, ofMessage, ofReply, signatureSeal } from "./read-answer.ts";
import { failureReported } from "./reply.ts";
import { readChatUsage } from "./usage.ts";

/** chat.completion.chunk events in neutral form. The finish is told at the end: usage may stand before or behind it. */
export class ChatEventReader implements EventReader {
  readonly #emit: (event: AnswerEvent) => void;
  readonly #source: AnswerSource;
  readonly #calls: CallQueue;
  #started = false;
  #over = false;
  #open: Piece["kind"] | null = null;
  #refused = false;
  #finish: string | null = null;

  constructor(emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.#emit = emit;
    this.#source = source;
    this.#calls = new CallQueue(emit, source);
  }

  read(data: string): void {
    if (this.#over || data === "") return;
    if (data.length < 16 && data.trim() === "[DONE]") this.end();
    else this.#readChunk(data);
  }

  #readChunk(data: string): void {
    const chunk = parseObject(data);
    if (chunk === null) throw upstreamBroke("The upstream sent an event that is not a JSON object.");
    const error = chunk["error"] ?? (chunk["object"] === "error" ? chunk : null);
    if (error !== null) {
      this.#over = true;
      this.#emit({ kind: "error", failure: failureReported(error) });
      return;
    }
    warnOfUnread(chunk, ofReply, "the answer", this.#source.warn);
    const choice = arrayOf(chunk["choices"]).find(isFirst);
    if (choice !== undefined) this.#readChoice(choice, chunk);
    // Moonshot puts usage inside the last choice.
    const reported = chunk["usage"] ?? choice?.["usage"] ?? null;
    if (reported !== null) this.#readUsage(reported, chunk);
  }

  end(): void {
    if (this.#over) return;
    if (!this.#started) throw upstreamBroke("The upstream's stream ended without an answer.");
    this.#close();
    this.#over = true;
    const reason = readFinish(this.#finish, { calls: this.#calls.count > 0, refusal: this.#refused });
    this.#emit({ kind: "finish", finish: { reason, stopSequence: null } });
    this.#emit({ kind: "end" });
  }

  #readChoice(choice: JsonObject, chunk: JsonObject): void {
    this.#start(chunk);
    const delta = objectOf(choice["delta"] ?? choice["message"]);
    warnOfUnread(choice, ofChoice, "a choice", this.#source.warn);
    warnOfUnread(delta, ofMessage, "a message", this.#source.warn);
    for (const piece of piecesOf(delta)) this.#say(piece);
    if ("annotations" in delta) this.#cite(delta);
    for (const source of imagesOf(delta)) {
      this.#close();
      this.#emit({ kind: "block-start", block: { kind: "image", source } });
      this.#emit({ kind: "block-end" });
    }
    const signature = signatureIn(delta);
    if (signature !== null) this.#sign(signature);
    if ("tool_calls" in delta || "function_call" in delta) this.#readCalls(delta);
    const finish = givenName(choice["finish_reason"]);
    if (finish === null) return;
    this.#finish = finish;
    this.#close();
  }

  /** It stands behind what it signs, as a thought without words. */
  #sign(signature: string): void {
    if (this.#open !== "reasoning") {
      this.#close();
      this.#emit({ kind: "block-start", block: { kind: "reasoning", redacted: false } });
    }
    this.#emit({ kind: "block-seal", seal: signatureSeal(signature, this.#source.account) });
    this.#open = null;
    this.#emit({ kind: "block-end" });
  }

  #cite(delta: JsonObject): void {
    const { warn } = this.#source;
    for (const citation of readAnnotations(delta, warn)) {
      if (this.#open === "text") this.#emit({ kind: "block-citation", citation });
      else warn(citationsLost);
    }
  }

  #readCalls(delta: JsonObject): void {
    for (const piece of callsOf(delta)) {
      if (this.#open !== null) this.#close();
      this.#calls.add(piece);
    }
  }

  #say({ kind, text }: Piece): void {
    if (this.#open !== kind) {
      this.#close();
      this.#open = kind;
      if (kind === "refusal") this.#refused = true;
      this.#emit({ kind: "block-start", block: kind === "reasoning" ? { kind, redacted: false } : { kind } });
    }
    this.#emit({ kind: "block-delta", text });
  }

  /** Ends what is open: a text, or the calls so far. */
  #close(): void {
    if (this.#calls.busy) this.#calls.flush();
    if (this.#open === null) return;
    this.#open = null;
    this.#emit({ kind: "block-end" });
  }

  #start(chunk: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    this.#emit({ kind: "start", id: givenName(chunk["id"]), model: givenName(chunk["model"]) });
  }

  #readUsage(reported: unknown, chunk: JsonObject): void {
    const reading = readChatUsage(reported, this.#source.usage);
    if (reading === null) return;
    this.#start(chunk);
    this.#emit({ kind: "usage", usage: reading.usage });
  }
}

/** Only one answer was asked for. Azure opens with a chunk that has none; some vendors number nothing. */
function isFirst(choice: unknown): choice is JsonObject {
  return isObject(choice) && (choice["index"] ?? 0) === 0;
}
