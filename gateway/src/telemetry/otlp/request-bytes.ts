import { keyBytes, ProtobufWriter, varintSize } from "./protobuf-writer.ts";
import type { Origin } from "./sdk-types.ts";

/** Records of one kind as they stand in an export request of opentelemetry-proto: below their resource and their scope. */
export class RequestBytes {
  readonly #origin: Uint8Array;
  readonly #scope: Uint8Array;
  readonly #schema: Uint8Array;
  readonly #waiting = new ProtobufWriter();
  readonly #request = new ProtobufWriter();
  /** Where each of them ends. */
  #ends: number[] = [];

  constructor({ resource, scope }: Origin) {
    const writer = new ProtobufWriter();
    const inner = new ProtobufWriter();
    for (const [name, value] of Object.entries(resource.attributes)) writer.attribute(1, keyBytes(name), String(value));
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
  }

  get size(): number {
    return this.#ends.length;
  }

  get bytes(): number {
    return this.#waiting.length;
  }

  /** How many of the oldest take no more than that; one at the least. */
  fitting(bytesMax: number): number {
    const ends = this.#ends;
    let count = ends.length;
    while (count > 1 && (ends[count - 1] ?? 0) > bytesMax) count--;
    return count;
  }

  put(record: ProtobufWriter): void {
    this.#waiting.message(2, record);
    this.#ends.push(this.#waiting.length);
  }

  /** A request with the oldest, `size` of them at most. */
  take(size: number): Uint8Array {
    const end = this.#ends[size - 1] ?? 0;
    const ofScope = this.#scope.length + end + this.#schema.length;
    const request = this.#request;
    request.clear();
    request.open(1, this.#origin.length + 1 + varintSize(ofScope) + ofScope);
    request.raw(this.#origin);
    request.open(2, ofScope);
    request.raw(this.#scope);
    request.piece(this.#waiting, end);
    request.raw(this.#schema);
    this.#waiting.drop(end);
    this.#ends = this.#ends.slice(size).map((at) => at - end);
    const taken = request.taken();
    request.shrink();
    return taken;
  }
}
