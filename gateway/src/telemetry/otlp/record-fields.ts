import { bounds } from "#core/index.ts";
import { keyBytes, type ProtobufWriter } from "./protobuf-writer.ts";
import type { TraceContext } from "./traces.ts";

export type AttributeValue = string | number | boolean;

/** Attributes by name, without null and undefined ones. */
export type Attributes = Readonly<Record<string, AttributeValue | null | undefined>>;

/** Fields that many spans or log records have in common, encoded once. */
export class SharedFields {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Name and OpenTelemetry's SpanKind of a span; "" and 0 for a log record. */
  readonly name: string;
  readonly kind: number;
  /** Protobuf bytes; null until they are first written. */
  encoded: Uint8Array | null = null;

  constructor(attributes: Attributes, name = "", kind = 0) {
    const present = Object.entries(attributes).filter((pair): pair is [string, AttributeValue] => pair[1] != null);
    this.attributes = Object.fromEntries(present);
    this.name = name;
    this.kind = kind;
  }
}

export interface SpanLink {
  readonly trace: TraceContext;
  /** Id of ours that the linked span's id is derived from. */
  readonly sourceId: string;
}

/** A finished span. Times are Unix milliseconds with fractions. */
export interface SpanFields {
  readonly trace: TraceContext;
  /** Id of an attempt, request or task that the span's id is derived from. */
  readonly sourceId: string;
  /** The same of the parent span; null if it has no parent or the parent is the caller's. */
  readonly parentSourceId: string | null;
  /** The caller's span, if that is the parent. */
  readonly parentSpanId: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly shared: SharedFields;
  /** Read it before the next span is made: the list is reused. */
  readonly own: AttributeList;
  /** Why it failed; null if it did not. */
  readonly failure: string | null;
  readonly links: readonly SpanLink[];
}

export const spanKinds = { server: 1, client: 2 } as const;
export const noLinks: readonly SpanLink[] = [];

/** A log record. Read it before the next one is made. Times are Unix milliseconds. */
export interface LogFields {
  readonly atMs: number;
  readonly observedMs: number;
  readonly level: string;
  /** OpenTelemetry's SeverityNumber. */
  readonly severity: number;
  readonly body: string;
  /** null for a line of the log that is no event. */
  readonly eventName: string | null;
  readonly trace: TraceContext | null;
  /** Whether the spans of that trace are exported. */
  readonly sampled: boolean;
  /** Id of ours that the span's id is derived from; "" if none. */
  readonly sourceId: string;
  readonly shared: SharedFields | null;
  readonly own: AttributeList | null;
  /** Further attributes with any JSON value. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly dropped: number;
}

/** The attributes of one span or record. The list is reused, so that no call allocates one. */
export class AttributeList {
  readonly #names: string[] = [];
  readonly #values: AttributeValue[] = [];
  #length = 0;

  clear(): this {
    this.#length = 0;
    return this;
  }

  add(name: string, value: AttributeValue): void {
    this.#names[this.#length] = name;
    this.#values[this.#length++] = value;
  }

  /** Leaves out null and 0. */
  addCount(name: string, count: number | null): void {
    if (count !== null && count > 0) this.add(name, count);
  }

  write(out: ProtobufWriter, field: number): void {
    for (let at = 0; at < this.#length; at++) {
      out.attribute(field, keyBytes(this.#names[at] as string), this.#values[at] as AttributeValue);
    }
  }
}

interface CachedFields {
  readonly facts: readonly unknown[];
  readonly shared: SharedFields;
}

/**
 * Shared fields by the facts that they depend on. Each group (a key) has few of them; comparing them one by one costs less than
 * building a text of all facts to look up.
 */
export class SharedFieldsCache<Source> {
  readonly #factsOf: (source: Source) => readonly unknown[];
  readonly #make: (source: Source) => SharedFields;
  readonly #groups = new Map<string, CachedFields[]>();
  #size = 0;
  /** Consecutive records are often alike. */
  #last: CachedFields | null = null;

  constructor(factsOf: (source: Source) => readonly unknown[], make: (source: Source) => SharedFields) {
    this.#factsOf = factsOf;
    this.#make = make;
  }

  get(group: string, source: Source): SharedFields {
    const facts = this.#factsOf(source);
    if (this.#last === null || !isEqual(this.#last.facts, facts)) {
      const cached = this.#groups.get(group)?.find((each) => isEqual(each.facts, facts));
      this.#last = cached ?? this.#add(group, { facts, shared: this.#make(source) });
    }
    return this.#last.shared;
  }

  #add(group: string, fields: CachedFields): CachedFields {
    if (this.#size >= bounds.sharedAttributesMax) {
      this.#groups.clear();
      this.#size = 0;
    }
    let cached = this.#groups.get(group);
    if (cached === undefined || cached.length >= bounds.sharedAttributesOfGroupMax) {
      this.#size -= cached?.length ?? 0;
      cached = [];
      this.#groups.set(group, cached);
    }
    cached.push(fields);
    this.#size++;
    return fields;
  }
}

function isEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
