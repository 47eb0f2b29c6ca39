import { keyBytes, ProtobufWriter, varintSize } from "./protobuf-writer.ts";

/** Who tells: the same in everything that is sent. */
export interface Origin {
  /** Of the resource. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly scope: { readonly name: string; readonly version?: string; readonly schemaUrl?: string };
}

/**
 * Records of one kind as they stand in an export request of opentelemetry-proto: below their resource and their scope. They are written
 * once, where they are sent from: behind room for what stands in front of them in a request, which is known when that leaves.
 */
export class RequestBytes {
  readonly #origin: Uint8Array;
  readonly #scope: Uint8Array;
  readonly #schema: Uint8Array;
  readonly #head = new ProtobufWriter(256);
  readonly #headRoom: number;
  #waiting: ProtobufWriter;
  /** What the last request stands in; null: it is not known to be done with. */
  #leaving: ProtobufWriter | null = null;
  #spare: ProtobufWriter | null = null;
  /** Where each of them ends. */
  #ends: number[] = [];
  #end: number;
  #start = 0;

  constructor({ attributes, scope }: Origin) {
    const writer = new ProtobufWriter();
    const inner = new ProtobufWriter();
    for (const [name, value] of Object.entries(attributes)) writer.attribute(1, keyBytes(name), value);
    inner.message(1, writer);
    this.#origin = inner.taken();
    writer.clear();
    inner.clear();
    writer.text(1, scope.name);
    writer.text(2, scope.version ?? "");
    inner.message(1, writer);
    this.#scope = inner.taken();
    inner.clear();
    if ((scope.schemaUrl ?? "") !== "") inner.text(3, scope.schemaUrl ?? "");
    this.#schema = inner.taken();
    this.#headRoom = this.#origin.length + this.#scope.length + 2 * openBytesMax;
    this.#waiting = this.#empty();
    this.#end = this.#headRoom;
  }

  get size(): number {
    return this.#ends.length;
  }

  get bytes(): number {
    return this.#end - this.#headRoom;
  }

  /** How many of the oldest take no more than that; one at the least. */
  fitting(bytesMax: number): number {
    const ends = this.#ends;
    let count = ends.length;
    while (count > 1 && (ends[count - 1] ?? 0) - this.#headRoom > bytesMax) count--;
    return count;
  }

  /** Where a record is to be written, which is there with `end`. */
  begin(): ProtobufWriter {
    // One that could not be written to its end stands there still.
    this.#waiting.cut(this.#end);
    this.#start = this.#waiting.openLater(2);
    return this.#waiting;
  }

  end(): void {
    this.#waiting.close(this.#start);
    this.#end = this.#waiting.length;
    this.#ends.push(this.#end);
  }

  /** A request with the oldest, `size` of them at most. */
  take(size: number): Uint8Array {
    const { length } = this.#ends;
    const request = this.#waiting;
    request.cut(this.#end);
    const rest = this.#spare ?? this.#empty();
    const end = this.#ends[size - 1] ?? this.#headRoom;
    const by = end - this.#headRoom;
    this.#ends = size < length ? this.#ends.slice(size).map((at) => at - by) : [];
    request.move(end, rest);
    request.raw(this.#schema);
    this.#waiting = rest;
    this.#end -= by;
    this.#spare = null;
    this.#leaving = request;
    const head = this.#head;
    const ofScope = this.#scope.length + by + this.#schema.length;
    head.clear();
    head.open(1, this.#origin.length + 1 + varintSize(ofScope) + ofScope);
    head.raw(this.#origin);
    head.open(2, ofScope);
    head.raw(this.#scope);
    return request.headed(head, this.#headRoom);
  }

  /** The last request has left, and the next but one may stand where it stood. */
  reuse(): void {
    const writer = this.#leaving;
    this.#leaving = null;
    if (writer === null) return;
    writer.begin(this.#headRoom);
    this.#spare = writer;
  }

  #empty(): ProtobufWriter {
    const writer = new ProtobufWriter();
    writer.begin(this.#headRoom);
    return writer;
  }
}

/** A tag, and a size below 2^35. */
const openBytesMax = 6;
