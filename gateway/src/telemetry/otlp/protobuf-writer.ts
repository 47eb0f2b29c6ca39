/**
 * Bytes in Protocol Buffers' wire format, in one buffer that grows. OpenTelemetry's own writer goes over everything twice and takes
 * each text by the character; at thousands of spans a second that is most of what telemetry costs.
 */
export class ProtobufWriter {
  #bytes: Buffer;
  #length = 0;

  /** `size`: bytes to begin with. */
  constructor(size = 64 * 1024) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** A copy of what was written. */
  taken(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
  }

  /** What another has written, as a field of this one. */
  message(field: number, other: ProtobufWriter): void {
    this.tag(field, 2);
    this.varint(other.#length);
    this.#room(other.#length);
    other.#bytes.copy(this.#bytes, this.#length, 0, other.#length);
    this.#length += other.#length;
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Fields below 16 and above take one byte and two. */
  tag(field: number, wire: number): void {
    this.varint(field * 8 + wire);
  }

  /** Whole numbers from 0 to 2^53. */
  varint(value: number): void {
    this.#room(10);
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  fixed32(value: number): void {
    this.#room(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  double(value: number): void {
    this.#room(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  /** Unix milliseconds with fractions, as nanoseconds: more than a number holds, so in two halves. */
  nanoseconds(ms: number): void {
    this.#room(8);
    const seconds = Math.floor(ms / 1_000);
    const nanos = Math.round((ms - seconds * 1_000) * 1e6);
    const upper = Math.floor(seconds / 65_536) * 1e9;
    const rest = (seconds % 65_536) * 1e9 + nanos + (upper % 65_536) * 65_536;
    this.#length = this.#bytes.writeUInt32LE(rest % 2 ** 32, this.#length);
    this.#length = this.#bytes.writeUInt32LE(Math.floor(upper / 65_536) + Math.floor(rest / 2 ** 32), this.#length);
  }

  /** Bytes that are given as hex. */
  hex(field: number, text: string): void {
    const size = text.length / 2;
    this.tag(field, 2);
    this.varint(size);
    this.#room(size);
    for (let at = 0; at < text.length; at += 2) {
      this.#bytes[this.#length++] = (nibble(text.charCodeAt(at)) << 4) | nibble(text.charCodeAt(at + 1));
    }
  }

  text(field: number, text: string): void {
    const size = sizeOf(text);
    this.tag(field, 2);
    this.varint(size);
    this.#utf8(text, size);
  }

  /** An attribute: its key, as `keyBytes` has it, and its value. */
  attribute(field: number, key: Uint8Array, value: string | number | boolean): void {
    if (typeof value === "string") {
      const size = sizeOf(value);
      const inner = 1 + varintSize(size) + size;
      this.#open(field, key, inner);
      this.tag(1, 2);
      this.varint(size);
      this.#utf8(value, size);
    } else if (typeof value === "boolean") {
      this.#open(field, key, 2);
      this.tag(2, 0);
      this.varint(value ? 1 : 0);
    } else if (Number.isSafeInteger(value) && value >= 0) {
      this.#open(field, key, 1 + varintSize(value));
      this.tag(3, 0);
      this.varint(value);
    } else {
      this.#open(field, key, 9);
      this.tag(4, 1);
      this.double(value);
    }
  }

  #open(field: number, key: Uint8Array, inner: number): void {
    this.tag(field, 2);
    this.varint(key.length + 1 + varintSize(inner) + inner);
    this.raw(key);
    this.tag(2, 2);
    this.varint(inner);
  }

  #utf8(text: string, size: number): void {
    this.#room(size);
    if (size !== text.length) this.#bytes.write(text, this.#length, "utf8");
    else for (let at = 0; at < size; at++) this.#bytes[this.#length + at] = text.charCodeAt(at);
    this.#length += size;
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** A key, as it stands in front of every value that it has. */
export function keyBytes(key: string): Uint8Array {
  const writer = keyWriter;
  writer.clear();
  writer.text(1, key);
  return writer.taken();
}

const keyWriter = new ProtobufWriter();

function sizeOf(text: string): number {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return Buffer.byteLength(text);
  return text.length;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++;
  return size;
}

function nibble(code: number): number {
  return code > 57 ? code - 87 : code - 48;
}
