import type { Failure, Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "../dialect.ts";
import { firstEventBroken } from "../errors/upstream-errors.ts";
import { isObject, type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";
import { eventData, SseEvents } from "../stream/sse-events.ts";
import { readServed } from "../usage/read-served.ts";
import { converseStreamFailure } from "./error.ts";
import { readConverseUsage } from "./usage.ts";

/** Listens to Converse events. The stop comes first and the usage behind it. */
export class ConverseStreamTap implements StreamTap {
  events = 0;
  contentSeen = false;
  usage: UsageReading | null = null;
  served: Served | undefined;
  failure: Failure | null = null;
  outputEstimate = 0;
  /** Bedrock keeps no answers. */
  readonly id = null;

  readonly #sse = new SseEvents();
  #stopped = false;
  readonly #visit = (bytes: Uint8Array, start: number, end: number): void => this.#inspect(bytes, start, end);

  push(chunk: Uint8Array): Uint8Array {
    return this.#sse.push(chunk, this.#visit);
  }

  get ended(): boolean {
    return this.#stopped && this.usage !== null;
  }

  /** Usage is told once, at the end. */
  get usageFinal(): boolean {
    return this.usage !== null;
  }

  complete(): boolean {
    return this.#stopped;
  }

  rest(): Uint8Array {
    return emptyBytes;
  }

  #inspect(bytes: Uint8Array, start: number, end: number): void {
    const data = eventData(bytes, start, end);
    if (data === "") return;
    this.events++;
    const event = parseObject(data);
    if (event === null) {
      if (this.events > 1) return;
      throw firstEventBroken();
    }
    if (isObject(event["error"])) this.failure = converseStreamFailure(event["error"]);
    if (isObject(event["contentBlockStart"])) this.#count(event["contentBlockStart"]["start"]);
    if (isObject(event["contentBlockDelta"])) this.#count(event["contentBlockDelta"]["delta"]);
    if (isObject(event["messageStop"])) this.#stopped = true;
    if (isObject(event["metadata"])) {
      this.usage = readConverseUsage(event["metadata"]["usage"]) ?? this.usage;
      this.served = readServed(event["metadata"], null);
    }
  }

  /** Output is generated a token or a few at an event: short pieces count one, longer ones a token per four letters. */
  #count(content: unknown): void {
    const { text, toolUse, reasoningContent } = objectOf(content);
    // A seal of thoughts that are not shown has no text.
    if (isObject(reasoningContent)) this.contentSeen = true;
    const piece = textOf(text) ?? textOf(objectOf(reasoningContent)["text"]) ?? toolText(toolUse);
    if (piece === null || piece === "") return;
    this.contentSeen = true;
    this.outputEstimate += piece.length <= 16 ? 1 : Math.ceil(piece.length / 4);
  }
}

function toolText(toolUse: unknown): string | null {
  const call: JsonObject = objectOf(toolUse);
  return textOf(call["input"]) ?? textOf(call["name"]);
}

const emptyBytes = new Uint8Array(0);
