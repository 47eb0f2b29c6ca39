import { bounds, type Failure } from "#core/index.ts";
import type { StreamTap, UsageReading } from "./dialect.ts";
import { eventLines, isDone } from "./event-lines.ts";
import { skimObject, skimValue } from "./json-skim.ts";
import { errorText } from "./openai-chat/reply.ts";
import { SseEvents } from "./sse-events.ts";
import { errorReported, firstEventBroken } from "./upstream-broke.ts";

export interface TypedEvents {
  /** Types of events with generated content, and of the last one. */
  readonly content: RegExp;
  readonly end: RegExp;
  readonly usageOf: (reported: unknown) => Pick<UsageReading, "usage"> | null;
}

/** Listens to events that say in `type` what they are, and in the last one what was used. Nothing else of them is read. */
export class TypedEventsTap implements StreamTap {
  events = 0;
  ended = false;
  contentSeen = false;
  usage: UsageReading | null = null;
  failure: Failure | null = null;
  outputEstimate = 0;
  /** Nothing of these is kept under an id. */
  readonly id = null;

  readonly #typed: TypedEvents;
  readonly #sse = new SseEvents(bounds.imageEventBytesMax);
  #done = false;
  readonly #visit = (bytes: Uint8Array, start: number, end: number): void => this.#inspect(bytes, start, end);

  constructor(typed: TypedEvents) {
    this.#typed = typed;
  }

  push(chunk: Uint8Array): Uint8Array {
    return this.#sse.push(chunk, this.#visit);
  }

  get usageFinal(): boolean {
    return this.#done && this.usage !== null;
  }

  /** The last event was seen; the bytes may end with or without [DONE]. */
  complete(): boolean {
    return this.ended || this.#done;
  }

  rest(): Uint8Array {
    return noBytes;
  }

  #inspect(bytes: Uint8Array, start: number, end: number): void {
    if (this.ended) return;
    const { name, data } = eventLines(bytes, start, end);
    if (data.length === 0) return;
    this.events++;
    if (isDone(data)) {
      this.ended = true;
      return;
    }
    const members = skimObject(data, 0, data.length, wanted);
    if (members === null) {
      if (this.events === 1) throw firstEventBroken();
      return;
    }
    const said = skimValue(data, members.get("type"));
    const type = typeof said === "string" ? said : name;
    const error = skimValue(data, members.get("error"));
    if (type === "error" || error !== null) {
      this.failure = errorReported(errorText(error));
    } else if (this.#typed.end.test(type)) this.#end(skimValue(data, members.get("usage")));
    else if (this.#typed.content.test(type)) {
      this.contentSeen = true;
      this.outputEstimate++;
    }
  }

  #end(reported: unknown): void {
    this.#done = true;
    this.contentSeen = true;
    const reading = this.#typed.usageOf(reported);
    if (reading === null) return;
    const raw = JSON.stringify(reported);
    this.usage = { ...reading, raw: raw.length <= bounds.rawUsageBytesMax ? raw : "{}" };
  }
}

const wanted: ReadonlySet<string> = new Set(["type", "usage", "error"]);
const noBytes = new Uint8Array(0);
