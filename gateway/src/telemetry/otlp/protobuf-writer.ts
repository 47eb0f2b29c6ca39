import { BoundedMap } from "#core/index.ts";

/**
 * Writes Protocol Buffers' wire format into one growing buffer. OpenTelemetry's own writer makes two passes and copies text by the
 * character, which at thousands of spans a second is most of the cost of telemetry.
 */
export class ProtobufWriter {
  #bytes: Buffer;
  #length = 0;

  /** `size`: initial capacity in bytes. */
  constructor(size = 4 * 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** Like `clear`, but shrinks a large buffer and leaves `room` bytes free at the front. */
  begin(room: number): void {
    if (this.#bytes.length > retainedBytesMax) this.#bytes = Buffer.allocUnsafeSlow(retainedBytesMax);
    this.#length = 0;
    this.#room(room);
    this.#length = room;
  }

  truncate(length: number): void {
    this.#length = length;
  }

  /** Moves the bytes from `start` on to the end of another writer. */
  moveTail(start: number, to: ProtobufWriter): void {
    const count = this.#length - start;
    to.#room(count);
    this.#bytes.copy(to.#bytes, to.#length, start, this.#length);
    to.#length += count;
    this.#length = start;
  }

  /** Returns a copy. */
  toBytes(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
  }

  /** Puts the bytes of `head` into the free space at the front, which ends at `room`. Returns a view, not a copy. */
  withHead(head: ProtobufWriter, room: number): Uint8Array {
    const start = room - head.#length;
    head.#bytes.copy(this.#bytes, start, 0, head.#length);
    return this.#bytes.subarray(start, this.#length);
  }

  /** Begins a field of unknown size. Pass the result to `endField`. */
  beginField(field: number): number {
    this.tag(field, 2);
    this.#room(usualSizeBytes);
    this.#length += usualSizeBytes;
    return this.#length;
  }

  endField(start: number): void {
    const size = this.#length - start;
    const sizeBytes = varintSize(size);
    if (sizeBytes !== usualSizeBytes) {
      this.#room(sizeBytes);
      this.#bytes.copyWithin(start - usualSizeBytes + sizeBytes, start, this.#length);
      this.#length += sizeBytes - usualSizeBytes;
    }
    varintAt(this.#bytes, start - usualSizeBytes, size);
  }

  /** Writes the content of another writer as a field. */
  message(field: number, other: ProtobufWriter): void {
    this.open(field, other.#length);
    this.#room(other.#length);
    other.#bytes.copy(this.#bytes, this.#length, 0, other.#length);
    this.#length += other.#length;
  }

  /** Begins a field of `size` bytes. */
  open(field: number, size: number): void {
    this.tag(field, 2);
    this.varint(size);
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  tag(field: number, wire: number): void {
    this.varint(field * 8 + wire);
  }

  /** `value`: an integer from 0 to 2^53. */
  varint(value: number): void {
    this.#room(varintBytesMax);
    this.#length = varintAt(this.#bytes, this.#length, value);
  }

  fixed32(value: number): void {
    this.#room(4);
    this.#length = fixed32At(this.#bytes, this.#length, value);
  }

  fixed64(value: number): void {
    this.fixed32(value % 2 ** 32);
    this.fixed32(Math.floor(value / 2 ** 32));
  }

  double(value: number): void {
    this.#room(8);
    this.#length = doubleAt(this.#bytes, this.#length, value);
  }

  /** Writes Unix milliseconds as 64-bit nanoseconds, in two halves because a number cannot hold them. `field` is below 16. */
  nanoseconds(field: number, ms: number): void {
    const seconds = Math.floor(ms / 1_000);
    const nanos = Math.round((ms - seconds * 1_000) * 1e6);
    const upper = Math.floor(seconds / 65_536) * 1e9;
    const rest = (seconds % 65_536) * 1e9 + nanos + (upper % 65_536) * 65_536;
    this.#room(9);
    const bytes = this.#bytes;
    bytes[this.#length] = field * 8 + 1;
    const at = fixed32At(bytes, this.#length + 1, rest % 2 ** 32);
    this.#length = fixed32At(bytes, at, Math.floor(upper / 65_536) + Math.floor(rest / 2 ** 32));
  }

  /** Writes words as big-endian bytes. `field` is below 16. */
  words(field: number, words: Int32Array): void {
    const size = words.length * 4;
    this.#room(size + 2);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = field * 8 + 2;
    bytes[at++] = size;
    for (let place = 0; place < words.length; place++) {
      const word = words[place] as number;
      bytes[at++] = word >>> 24;
      bytes[at++] = (word >>> 16) & 255;
      bytes[at++] = (word >>> 8) & 255;
      bytes[at++] = word & 255;
    }
    this.#length = at;
  }

  hex(field: number, text: string): void {
    const size = text.length / 2;
    this.open(field, size);
    this.#room(size);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let from = 0; from < text.length; from += 2) {
      bytes[at++] = (nibble(text.charCodeAt(from)) << 4) | nibble(text.charCodeAt(from + 1));
    }
    this.#length = at;
  }

  text(field: number, text: string): void {
    const size = sizeOf(text);
    this.open(field, size);
    this.#room(size);
    textAt(this.#bytes, this.#length, text, size);
    this.#length += size;
  }

  /** Writes an attribute; `key` comes from `keyBytes`. */
  attribute(field: number, key: Uint8Array, value: string | number | boolean): void {
    if (typeof value === "string" && value.length <= loopCopyMax && this.#shortText(field, key, value)) return;
    const size = typeof value === "string" ? sizeOf(value) : 0;
    this.#room(key.length + size + attributeFrameBytesMax);
    const inner = innerSize(value, size);
    const bytes = this.#bytes;
    let at = varintAt(bytes, this.#length, field * 8 + 2);
    at = varintAt(bytes, at, key.length + 1 + varintSize(inner) + inner);
    at = bytesAt(bytes, at, key);
    bytes[at++] = valueTag;
    at = varintAt(bytes, at, inner);
    if (typeof value === "string") {
      bytes[at++] = stringTag;
      at = varintAt(bytes, at, size);
      textAt(bytes, at, value, size);
      at += size;
    } else if (typeof value === "boolean") {
      bytes[at++] = boolTag;
      bytes[at++] = value ? 1 : 0;
    } else if (isVarint(value)) {
      bytes[at++] = intTag;
      at = varintAt(bytes, at, value);
    } else {
      bytes[at++] = doubleTag;
      at = doubleAt(bytes, at, value);
    }
    this.#length = at;
  }

  /** ASCII text in one pass, which halves the cost of a span. Returns false, and writes nothing, if it is not ASCII. */
  #shortText(field: number, key: Uint8Array, text: string): boolean {
    const size = text.length;
    this.#room(key.length + size + attributeFrameBytesMax);
    const bytes = this.#bytes;
    let at = varintAt(bytes, this.#length, field * 8 + 2);
    at = varintAt(bytes, at, key.length + 4 + size);
    at = bytesAt(bytes, at, key);
    bytes[at++] = valueTag;
    bytes[at++] = size + 2;
    bytes[at++] = stringTag;
    bytes[at++] = size;
    let all = 0;
    for (let from = 0; from < size; from++) {
      const code = text.charCodeAt(from);
      all |= code;
      bytes[at + from] = code;
    }
    if (all > 127) return false;
    this.#length = at + size;
    return true;
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Tags of KeyValue.value and of the members of AnyValue. */
const valueTag = 2 * 8 + 2;
const stringTag = 1 * 8 + 2;
const boolTag = 2 * 8;
const intTag = 3 * 8;
const doubleTag = 4 * 8 + 1;
/** Sizes from 128 to 16,383, as most records have. */
const usualSizeBytes = 2;
/** Larger buffers are replaced once they are empty. */
const retainedBytesMax = 1024 * 1024;
const varintBytesMax = 10;
/** An attribute without its key and text. */
const attributeFrameBytesMax = 64;
/** Shorter copies are faster in a loop than by a call of the runtime. */
const loopCopyMax = 64;

/** The encoded name of an attribute. Cached, because all records use the same few names. */
export function keyBytes(name: string): Uint8Array {
  let bytes = encodedNames.get(name);
  if (bytes === undefined) {
    const writer = new ProtobufWriter(name.length + attributeFrameBytesMax);
    writer.text(1, name);
    bytes = writer.toBytes();
    encodedNames.set(name, bytes);
  }
  return bytes;
}

const encodedNamesMax = 2_000;
const encodedNames = new BoundedMap<string, Uint8Array>(encodedNamesMax);

export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++;
  return size;
}

function isVarint(value: number): boolean {
  return value >= 0 && Number.isSafeInteger(value);
}

function innerSize(value: string | number | boolean, textSize: number): number {
  if (typeof value === "string") return 1 + varintSize(textSize) + textSize;
  if (typeof value === "boolean") return 2;
  return isVarint(value) ? 1 + varintSize(value) : 9;
}

function varintAt(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest >= 2 ** 31; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128;
  for (; rest >= 128; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
  bytes[at++] = rest;
  return at;
}

function bytesAt(bytes: Buffer, at: number, some: Uint8Array): number {
  const { length } = some;
  if (length > loopCopyMax) bytes.set(some, at);
  else for (let from = 0; from < length; from++) bytes[at + from] = some[from] as number;
  return at + length;
}

function fixed32At(bytes: Buffer, at: number, value: number): number {
  bytes[at] = value & 255;
  bytes[at + 1] = (value >>> 8) & 255;
  bytes[at + 2] = (value >>> 16) & 255;
  bytes[at + 3] = value >>> 24;
  return at + 4;
}

const asDouble = new Float64Array(1);
const ofDouble = new Uint8Array(asDouble.buffer);

/** The runtime only supports little-endian machines, and so does the protocol. */
function doubleAt(bytes: Buffer, at: number, value: number): number {
  asDouble[0] = value;
  for (let from = 0; from < 8; from++) bytes[at + from] = ofDouble[from] as number;
  return at + 8;
}

/** `size`: in UTF-8. */
function textAt(bytes: Buffer, at: number, text: string, size: number): void {
  if (size !== text.length || size > loopCopyMax) bytes.write(text, at, "utf8");
  else for (let from = 0; from < size; from++) bytes[at + from] = text.charCodeAt(from);
}

function sizeOf(text: string): number {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return Buffer.byteLength(text);
  return text.length;
}

function nibble(code: number): number {
  return code > 57 ? code - 87 : code - 48;
}
