import type { StreamTap, UsageReading } from "../dialect.ts";
import { reportedFailure } from "../errors/error-event.ts";
import { errorText, invalidFirstEvent } from "../errors/upstream-errors.ts";
import type { Span } from "../json/cursor.ts";
import { skimObject, skimValue } from "../json/skim.ts";
import { rawUsage } from "../usage/reading.ts";
import { EventTap, eventLines, isDone } from "./sse-events.ts";

/** `type` is the event's name if the data has none. `members`: only those requested. */
export interface TypedEvent {
  readonly type: string;
  readonly data: Uint8Array;
  readonly members: ReadonlyMap<string, Span>;
}

/** Base of taps for events that carry a `type`. Only the wanted members are decoded. */
export abstract class TypedEventStream extends EventTap {
  ended = false;
  usage: UsageReading | null = null;
  readonly id = null;

  readonly #wanted: ReadonlySet<string>;

  constructor(wanted: readonly string[]) {
    super();
    this.#wanted = new Set(["type", "error", ...wanted]);
  }

  protected abstract take(event: TypedEvent): void;

  /** Whether an error concerns only a part of the answer. */
  protected isPartial(_type: string): boolean {
    return false;
  }

  protected override inspect(bytes: Uint8Array, start: number, end: number): void {
    if (this.ended) return;
    const { name, data } = eventLines(bytes, start, end);
    if (data.length === 0) return;
    this.events++;
    if (isDone(data)) {
      this.ended = true;
      return;
    }
    const members = skimObject(data, 0, data.length, this.#wanted);
    if (members === null && this.events === 1) throw invalidFirstEvent();
    const declaredType = members === null ? null : skimValue(data, members.get("type"));
    const type = typeof declaredType === "string" ? declaredType : name;
    if (this.isPartial(type)) return;
    const error = members === null ? null : skimValue(data, members.get("error"));
    if (type === "error" || type.endsWith(".error") || error !== null)
      this.failure = reportedFailure(error, errorText(error));
    else this.take({ type, data, members: members ?? noMembers });
  }
}

const noMembers: ReadonlyMap<string, Span> = new Map();

interface TypedEvents {
  readonly content: RegExp;
  readonly end: RegExp;
  readonly usageOf: (reported: unknown) => Pick<UsageReading, "usage"> | null;
}

/** Counts generated content and reads usage from the last event. */
export class TypedEventsTap extends TypedEventStream implements StreamTap {
  readonly #options: TypedEvents;
  #done = false;

  constructor(typed: TypedEvents) {
    super(["usage"]);
    this.#options = typed;
  }

  get usageFinal(): boolean {
    return this.#done && this.usage !== null;
  }

  /** The last event has arrived, with or without [DONE]. */
  complete(): boolean {
    return this.ended || this.#done;
  }

  protected override take({ type, data, members }: TypedEvent): void {
    if (members.size === 0) return;
    if (this.#options.end.test(type)) this.#end(skimValue(data, members.get("usage")));
    else if (this.#options.content.test(type)) {
      this.contentSeen = true;
      this.outputEstimate++;
    }
  }

  #end(reported: unknown): void {
    this.#done = true;
    this.contentSeen = true;
    const reading = this.#options.usageOf(reported);
    if (reading === null) return;
    this.usage = { ...reading, raw: rawUsage(reported) };
  }
}
