import { bounds } from "#core/index.ts";
import { keyBytes, ProtobufWriter } from "./protobuf-writer.ts";
import type { TraceContext } from "./traces.ts";

/** What many spans or records have alike, put together once. */
export class SharedFields {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Of spans, as well as OpenTelemetry's SpanKind; empty and 0 of records, which have none. */
  readonly name: string;
  readonly kind: number;
  /** As bytes of the protocol; null: nobody has written them yet. */
  written: Uint8Array | null = null;

  constructor(attributes: Attributes, name = "", kind = 0) {
    const own = Object.entries(attributes).filter((pair): pair is [string, AttributeValue] => pair[1] != null);
    this.attributes = Object.fromEntries(own);
    this.name = name;
    this.kind = kind;
  }

  /** `field`: that of its attributes; `head`: writes what stands in front of them. */
  write(field: number, head: (out: ProtobufWriter) => void): Uint8Array {
    const writer = new ProtobufWriter();
    head(writer);
    for (const [name, value] of Object.entries(this.attributes)) {
      writer.attribute(field, keyBytes(name), value);
    }
    this.written = writer.taken();
    return this.written;
  }
}

export interface SpanLink {
  readonly trace: TraceContext;
  /** The id of ours that the span's follows from. */
  readonly of: string;
}

/** A span that is over. */
export interface SpanFields {
  readonly trace: TraceContext;
  /** The id of ours that the span's follows from: of an attempt, a request or a task. */
  readonly of: string;
  /** That of the span above it; null: it is none of ours. */
  readonly below: string | null;
  /** The span above it where it is the caller's. */
  readonly parentSpanId: string | null;
  /** Unix milliseconds with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly shared: SharedFields;
  /** To be read at once: it is filled again for the next span. */
  readonly own: AttributeList;
  /** Why it failed; null: it did not. */
  readonly failed: string | null;
  readonly links: readonly SpanLink[];
}

export const spanKinds = { server: 1, client: 2 } as const;
export const noLinks: readonly SpanLink[] = [];

/** A record of the log, to be read before the next one is made. */
export interface LogFields {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly observedMs: number;
  readonly level: string;
  /** OpenTelemetry's SeverityNumber. */
  readonly severity: number;
  /** Empty: it has none. */
  readonly body: string;
  /** Of an event; null: it is a line of the log. */
  readonly eventName: string | null;
  /** null: it is of no trace. */
  readonly trace: TraceContext | null;
  /** Whether the spans of that trace are sent. */
  readonly sampled: boolean;
  /** The id of ours that the span's follows from. */
  readonly of: string;
  /** What many records have alike; null: nothing. */
  readonly shared: SharedFields | null;
  readonly own: AttributeList | null;
  /** Any values, as JSON has them. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly dropped: number;
}

/** The name of an attribute, with its bytes on the wire. */
export interface AttributeName {
  readonly text: string;
  readonly bytes: Uint8Array;
}

export type AttributeValue = string | number | boolean;

/** null and undefined: there is none of that name. */
export type Attributes = Readonly<Record<string, AttributeValue | null | undefined>>;

export function attributeName(text: string): AttributeName {
  return { text, bytes: keyBytes(text) };
}

/** What one span has alone. The same list is filled for one span after the other, so that no call makes objects for it. */
export class AttributeList {
  readonly #names: AttributeName[] = [];
  readonly #values: AttributeValue[] = [];
  #length = 0;

  clear(): this {
    this.#length = 0;
    return this;
  }

  add(name: AttributeName, value: AttributeValue): void {
    this.#names[this.#length] = name;
    this.#values[this.#length++] = value;
  }

  write(out: ProtobufWriter, field: number): void {
    for (let at = 0; at < this.#length; at++) {
      out.attribute(field, (this.#names[at] as AttributeName).bytes, this.#values[at] as AttributeValue);
    }
  }
}

interface Kept<Source> {
  readonly shared: SharedFields;
  readonly source: Source;
}

/**
 * What records have alike, by what it follows from, so that it is put together once and not for each span. Those of one group (a key) are few, and
 * are compared member by member, which costs less than a text of all members.
 */
export class SharedFieldsCache<Source> {
  readonly #isSame: (one: Source, other: Source) => boolean;
  readonly #make: (source: Source) => SharedFields;
  readonly #groups = new Map<string, Kept<Source>[]>();
  #size = 0;
  /** The next one is often the same. */
  #last: Kept<Source> | null = null;

  constructor(isSame: (one: Source, other: Source) => boolean, make: (source: Source) => SharedFields) {
    this.#isSame = isSame;
    this.#make = make;
  }

  get(group: string, source: Source): SharedFields {
    if (this.#last !== null && this.#isSame(this.#last.source, source)) return this.#last.shared;
    const kept = this.#groups.get(group);
    if (kept !== undefined) {
      for (const one of kept) {
        if (!this.#isSame(one.source, source)) continue;
        this.#last = one;
        return one.shared;
      }
    }
    return this.#add(group, source);
  }

  #add(group: string, source: Source): SharedFields {
    if (this.#size >= bounds.sharedAttributesMax) {
      this.#groups.clear();
      this.#size = 0;
    }
    const shared = this.#make(source);
    let kept = this.#groups.get(group);
    if (kept === undefined || kept.length >= bounds.sharedAttributesOfGroupMax) {
      this.#size -= kept?.length ?? 0;
      kept = [];
      this.#groups.set(group, kept);
    }
    kept.push({ shared, source });
    this.#size++;
    return shared;
  }
}
