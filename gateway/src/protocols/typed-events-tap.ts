import { bounds } from "#core/index.ts";
import type { StreamTap, UsageReading } from "./dialect.ts";
import { skimValue } from "./json-skim.ts";
import { type TypedEvent, TypedEventStream } from "./typed-event-stream.ts";

export interface TypedEvents {
  /** Types of events with generated content, and of the last one. */
  readonly content: RegExp;
  readonly end: RegExp;
  readonly usageOf: (reported: unknown) => Pick<UsageReading, "usage"> | null;
}

/** Listens to generated content, and to what the last event says was used. */
export class TypedEventsTap extends TypedEventStream implements StreamTap {
  readonly #typed: TypedEvents;
  #done = false;

  constructor(typed: TypedEvents) {
    super(["usage"]);
    this.#typed = typed;
  }

  get usageFinal(): boolean {
    return this.#done && this.usage !== null;
  }

  /** The last event was seen; the bytes may end with or without [DONE]. */
  complete(): boolean {
    return this.ended || this.#done;
  }

  protected override take({ type, data, members }: TypedEvent): void {
    if (members.size === 0) return;
    if (this.#typed.end.test(type)) this.#end(skimValue(data, members.get("usage")));
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
