import { type Answer, type AnswerEvent, bounds, type FinishReason } from "#core/index.ts";
import type { AnswerSource, Warn } from "../codec.ts";
import { unsupportedReply, upstreamFault } from "../errors/upstream-errors.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseObject, parseReply, textOf } from "../json/value.ts";
import { AnswerReader, collectAnswer } from "../turn/answer-events.ts";
import { warnOfCaller, warnOfUnknownType, warnOfUnreadMembers } from "../turn/warnings.ts";
import { responsesFailure } from "./error.ts";
import { type ItemReader, outputReader } from "./item-readers.ts";
import { bareResponse } from "./response-object.ts";
import { readResponsesUsage } from "./usage.ts";

/** Items of built-in tools are dropped. */
export function readResponsesAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const response = parseReply(body);
  const { status } = response;
  if (status === "failed") throw responsesFailure(objectOf(response["error"]));
  if (!Array.isArray(response["output"])) {
    if (isObject(response["error"])) throw responsesFailure(response);
    throw upstreamFault("The upstream's answer is not a response.");
  }
  if (status === "queued" || status === "in_progress" || status === "cancelled") {
    throw upstreamFault(`The upstream's answer is ${status}.`);
  }
  return collectAnswer(source, (emit) =>
    new ResponsesEventReader(emit, source).take(response, status === "incomplete"),
  );
}

/** An output item. Its events are buffered while an earlier item is unfinished. */
interface PendingItem {
  readonly item: JsonObject;
  readonly buffered: AnswerEvent[];
  /** Null while the reader is created, which may emit already. */
  reader: ItemReader | null;
  done: boolean;
}

/** Reads response events. Interleaved items are put in order. */
export class ResponsesEventReader extends AnswerReader {
  readonly #pending = new Map<number, PendingItem>();
  /** Unfinished items and those after them, in order. */
  readonly #queue: PendingItem[] = [];
  readonly #seenIndexes = new Set<number>();
  readonly #contains = { calls: false, refusal: false };
  #bufferedLength = 0;
  #finished = false;

  read(data: string): void {
    if (this.ended || this.#finished || data.trim() === "[DONE]") return;
    const event = parseObject(data);
    if (event === null) throw upstreamFault("The upstream sent an event that is not JSON.");
    const type = textOf(event["type"]) ?? (event["error"] === undefined ? "" : "error");
    switch (type) {
      case "keepalive":
        return;
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        this.#start(objectOf(event["response"]));
        return;
      case "response.output_item.added":
        this.#added(indexOf(event), objectOf(event["item"]));
        return;
      case "response.output_item.done":
        this.#done(indexOf(event), objectOf(event["item"]));
        return;
      case "response.completed":
      case "response.incomplete":
        this.take(objectOf(event["response"]), type === "response.incomplete");
        return;
      case "response.failed":
        this.fail(responsesFailure(objectOf(objectOf(event["response"])["error"])));
        return;
      case "error":
        this.fail(responsesFailure(event));
        return;
      default: {
        const pending = this.#pendingItem(indexOf(event), type);
        pending?.reader?.read(type, event);
        // Items without a neutral form were reported when they began.
        if (pending === undefined && !this.#seenIndexes.has(indexOf(event)))
          warnOfUnknownType("events", type, this.source.warn);
      }
    }
  }

  end(): void {
    if (this.ended) return;
    if (!this.#finished) throw upstreamFault("The upstream's stream ended before it was complete.");
    this.finish(null);
  }

  #start(response: JsonObject): void {
    this.emitStart(textOf(response["id"]), textOf(response["model"]));
  }

  #added(index: number, item: JsonObject): void {
    this.#start({});
    if (this.#seenIndexes.has(index)) return;
    this.#seenIndexes.add(index);
    const pending: PendingItem = { item, buffered: [], reader: null, done: false };
    this.#queue.push(pending);
    pending.reader = outputReader(item, (event) => this.#forward(pending, event), this.source);
    if (pending.reader === null) this.#queue.pop();
    else this.#pending.set(index, pending);
  }

  #done(index: number, item: JsonObject): void {
    if (!this.#seenIndexes.has(index)) this.#added(index, item);
    const pending = this.#pending.get(index);
    if (pending === undefined || pending.done) return;
    warnOfItem(item, this.source.warn);
    pending.reader?.done(item);
    pending.done = true;
    this.#flushDone();
  }

  /** Some upstreams begin a message with its text. */
  #pendingItem(index: number, type: string): PendingItem | undefined {
    if (index === -1) return undefined;
    if (!this.#seenIndexes.has(index) && (type === "response.output_text.delta" || type === "response.refusal.delta")) {
      this.#added(index, { type: "message" });
    }
    const pending = this.#pending.get(index);
    return pending?.done === true ? undefined : pending;
  }

  #forward(pending: PendingItem, event: AnswerEvent): void {
    if (event.kind === "block-start" && event.block.kind === "tool-call") this.#contains.calls = true;
    if (event.kind === "block-start" && event.block.kind === "refusal") this.#contains.refusal = true;
    if (pending === this.#queue[0]) {
      this.emit(event);
      return;
    }
    pending.buffered.push(event);
    this.#bufferedLength += event.kind === "block-delta" ? event.text.length : 1;
    if (this.#bufferedLength > bounds.replyBytesMax)
      throw unsupportedReply("The upstream's interleaved items are too large.");
  }

  /** Emits the buffered events of the next item. */
  #flushDone(): void {
    while (this.#queue[0]?.done === true) {
      this.#queue.shift();
      const next = this.#queue[0];
      if (next === undefined) return;
      for (const event of next.buffered.splice(0)) this.emit(event);
    }
  }

  /** Reads the last response of a stream, or a whole one. */
  take(response: JsonObject, isIncomplete: boolean): void {
    this.#start(response);
    warnOfUnreadMembers(response, responseMembers, "the answer", this.source.warn);
    const output = arrayOf(response["output"]).map(objectOf);
    // Some upstreams send items only at the end, or do not finish them.
    if (this.#seenIndexes.size === 0) {
      output.forEach((item, index) => {
        this.#done(index, item);
      });
    }
    for (const [index, lane] of this.#pending) {
      const { id } = lane.item;
      this.#done(index, output.find((item) => id !== undefined && item["id"] === id) ?? lane.item);
    }
    const usage = readResponsesUsage(response["usage"]);
    if (usage !== null) this.emit({ kind: "usage", usage: usage.usage });
    const reason = finishOf(isIncomplete ? response : null, this.#contains);
    this.emit({ kind: "finish", finish: { reason, stopSequence: null } });
    this.#finished = true;
  }
}

function indexOf(event: JsonObject): number {
  const index = event["output_index"];
  return typeof index === "number" ? index : -1;
}

/** Members that are read, need no translation, or repeat the request. */
const responseMembers: ReadonlySet<string> = new Set([
  ...Object.keys(bareResponse({})),
  ...["id", "tool_usage", "billing", "output_text", "conversation", "prompt", "prompt_cache_retention", "user"],
  ...["prompt_cache_options", "context_management", "caching", "thinking", "expire_at"],
]);

function warnOfItem(item: JsonObject, warn: Warn): void {
  const read = itemMembers.get(item["type"]);
  if (read === undefined) return;
  warnOfUnreadMembers(item, read, "an item", warn);
  warnOfCaller(item, warn);
  if (item["type"] !== "message") return;
  for (const part of arrayOf(item["content"])) {
    const held = objectOf(part);
    if (textTypes.has(held["type"])) warnOfUnreadMembers(held, textMembers, "a text", warn);
    else warnOfUnknownType("parts", held["type"], warn);
  }
}

const commonMembers = ["type", "id", "status", "caller"];
const itemMembers: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ["message", new Set([...commonMembers, "role", "content", "phase"])],
  ["function_call", new Set([...commonMembers, "call_id", "name", "arguments"])],
  ["custom_tool_call", new Set([...commonMembers, "call_id", "name", "input"])],
  ["reasoning", new Set([...commonMembers, "summary", "content", "encrypted_content"])],
  [
    "image_generation_call",
    // Settings of the picture.
    new Set([...commonMembers, "result", "output_format", "action", "background", "quality", "size", "svg_usage"]),
  ],
]);
const textTypes: ReadonlySet<unknown> = new Set(["output_text", "refusal", "text"]);
const textMembers: ReadonlySet<string> = new Set(["type", "text", "refusal", "annotations"]);

/** `incomplete`: the response if it broke off. Otherwise calls or refusals decide. */
function finishOf(
  incomplete: JsonObject | null,
  met: { readonly calls: boolean; readonly refusal: boolean },
): FinishReason {
  if (incomplete !== null) {
    const { reason } = objectOf(incomplete["incomplete_details"]);
    if (reason === "content_filter") return "content-filter";
    return reason === "steered" ? "pause" : "length";
  }
  if (met.calls) return "tool-calls";
  return met.refusal ? "refusal" : "stop";
}
