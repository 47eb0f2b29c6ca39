import { type AnswerEvent, bounds } from "#core/index.ts";
import type { AnswerSource, EventReader } from "../codec.ts";
import { brokenEvent, notCarried } from "../errors/upstream-errors.ts";
import { countOf, isObject, type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";
import { warnOfStranger, warnOfUnread } from "../turn/warnings.ts";
import { messagesFailure } from "./error.ts";
import { OpenBlock } from "./open-block.ts";
import { ofMessage } from "./read-answer.ts";
import { readFinish } from "./stop-reason.ts";
import { mergeUsage, readMessagesUsage } from "./usage.ts";

/** Reads a message's events. Blocks that run side by side, which only imitations do, are put one behind the other. */
export class MessagesEventReader implements EventReader {
  readonly #emit: (event: AnswerEvent) => void;
  readonly #source: AnswerSource;
  /** In the order in which they began; the first one is the open one. */
  #blocks: OpenBlock[] = [];
  #waitingSize = 0;
  #reported: JsonObject = {};
  #started = false;
  #finished = false;
  #over = false;

  constructor(emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.#emit = emit;
    this.#source = source;
  }

  read(data: string): void {
    if (this.#over || data === "[DONE]") return;
    const event = parseObject(data);
    if (event === null) throw brokenEvent("is not a JSON object");
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
        warnOfUnread(event, ofEnd, "a message", this.#source.warn);
        this.#readEnd(objectOf(event["delta"]), event["usage"]);
        break;
      case "error":
        this.#fail(event["error"]);
        break;
      default:
        // An error without a type is still one.
        if (event["type"] === undefined && isObject(event["error"])) this.#fail(event["error"]);
        else if (!silent.has(event["type"])) warnOfStranger("events", event["type"], this.#source.warn);
    }
  }

  end(): void {
    if (this.#over) return;
    this.#begin();
    this.#closeAll();
    if (!this.#finished) this.#emit({ kind: "finish", finish: { reason: "stop", stopSequence: null } });
    this.#over = true;
    this.#emit({ kind: "end" });
  }

  #begin(): void {
    if (this.#started) return;
    this.#started = true;
    this.#emit({ kind: "start", id: null, model: null });
  }

  #start(message: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    this.#emit({ kind: "start", id: textOf(message["id"]), model: textOf(message["model"]) });
    this.#report(message["usage"]);
  }

  #startBlock(index: number, content: JsonObject): void {
    this.#begin();
    const block = new OpenBlock(index, content, this.#source);
    this.#blocks.push(block);
    if (this.#blocks.length === 1) block.open(this.#emit);
  }

  #delta(index: number, delta: JsonObject): void {
    let block = this.#blocks.find((one) => one.index === index && !one.stopped);
    if (block === undefined) {
      const type = deltaBlocks.get(delta["type"]);
      if (type === undefined) {
        if (delta["type"] === "input_json_delta") throw brokenEvent("belongs to a block that was never begun");
        return;
      }
      this.#startBlock(index, { type });
      block = this.#blocks.at(-1);
    }
    const size = block?.add(delta, this.#emit) ?? 0;
    this.#waitingSize += size;
    if (this.#waitingSize > bounds.replyBytesMax)
      throw notCarried("An event of the upstream belongs to more blocks side by side than are held.");
  }

  #stopBlock(index: number): void {
    const block = this.#blocks.find((one) => one.index === index && !one.stopped);
    if (block === undefined) return;
    block.stopped = true;
    while (this.#blocks[0]?.stopped === true) {
      this.#blocks[0].close(this.#emit);
      this.#blocks.shift();
      this.#blocks[0]?.open(this.#emit);
    }
  }

  #closeAll(): void {
    for (const block of [...this.#blocks]) this.#stopBlock(block.index);
  }

  #readEnd(delta: JsonObject, usage: unknown): void {
    this.#begin();
    warnOfUnread(delta, ofMessage, "a message", this.#source.warn);
    this.#report(usage);
    if (this.#finished || textOf(delta["stop_reason"]) === null) return;
    this.#closeAll();
    this.#finished = true;
    this.#emit({ kind: "finish", finish: readFinish(delta) });
  }

  #report(usage: unknown): void {
    if (!isObject(usage)) return;
    this.#reported = mergeUsage(this.#reported, usage);
    const reading = readMessagesUsage(this.#reported);
    if (reading !== null) this.#emit({ kind: "usage", usage: reading.usage });
  }

  #fail(error: unknown): void {
    this.#over = true;
    this.#emit({ kind: "error", failure: messagesFailure(error) });
  }
}

const ofEnd: ReadonlySet<string> = new Set(["type", "delta", "usage"]);
const silent: ReadonlySet<unknown> = new Set(["ping", "message_stop"]);

/** The block that a delta belongs to when nobody began one. */
const deltaBlocks: ReadonlyMap<unknown, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
]);

function indexOf(event: JsonObject): number {
  const index = countOf(event["index"]);
  if (index === null) throw brokenEvent("has no index");
  return index;
}
