/**
 * Bytes in Protocol Buffers' wire format, in one buffer that grows. OpenTelemetry's own writer goes over everything twice and takes
 * each text by the character; at thousands of spans a second that is most of what telemetry costs.
 */
export class ProtobufWriter {
  #bytes: Buffer;
  #length = 0;

  /** `size`: bytes to begin with. */
  constructor(size = 4 * 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** The same, and a buffer that has become large is let go of. `room`: bytes that are left out in front. */
  begin(room: number): void {
    if (this.#bytes.length > keptBytesMax) this.#bytes = Buffer.allocUnsafeSlow(keptBytesMax);
    this.#length = 0;
    this.#room(room);
    this.#length = room;
  }

  /** What was written behind so many bytes is forgotten. */
  cut(length: number): void {
    this.#length = length;
  }

  /** Takes the bytes from `start` on away and puts them behind what another has written. */
  move(start: number, behind: ProtobufWriter): void {
    const count = this.#length - start;
    behind.#room(count);
    this.#bytes.copy(behind.#bytes, behind.#length, start, this.#length);
    behind.#length += count;
    this.#length = start;
  }

  /** A copy of what was written. */
  taken(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
  }

  /** What was written, itself, with what another has written put into the room in front, which ends at `room`. */
  headed(head: ProtobufWriter, room: number): Uint8Array {
    const start = room - head.#length;
    head.#bytes.copy(this.#bytes, start, 0, head.#length);
    return this.#bytes.subarray(start, this.#length);
  }

  /** The head of a field whose size is not known yet. Returns what `close` is to be told. */
  openLater(field: number): number {
    this.tag(field, 2);
    this.#room(usualSizeBytes);
    this.#length += usualSizeBytes;
    return this.#length;
  }

  /** What was written since is the field. */
  close(start: number): void {
    const size = this.#length - start;
    const sizeBytes = varintSize(size);
    if (sizeBytes !== usualSizeBytes) {
      this.#room(sizeBytes);
      this.#bytes.copyWithin(start - usualSizeBytes + sizeBytes, start, this.#length);
      this.#length += sizeBytes - usualSizeBytes;
    }
    varintAt(this.#bytes, start - usualSizeBytes, size);
  }

  /** What another has written, as a field of this one. */
  message(field: number, other: ProtobufWriter): void {
    this.open(field, other.#length);
    this.#room(other.#length);
    other.#bytes.copy(this.#bytes, this.#length, 0, other.#length);
    this.#length += other.#length;
  }

  /** The head of a field of so many bytes, which are to follow. */
  open(field: number, size: number): void {
    this.tag(field, 2);
    this.varint(size);
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

  /** Unix milliseconds with fractions, as nanoseconds: more than a number holds, so in two halves. A field below 16. */
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

  /** Bytes that are given as words, most significant byte first. A field below 16. */
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

  /** Bytes that are given as hex. */
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

  /** An attribute: its key, as `keyBytes` has it, and its value. */
  attribute(field: number, key: Uint8Array, value: string | number | boolean): void {
    if (typeof value === "string" && value.length <= copiedByHandMax && this.#shortText(field, key, value)) return;
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

  /** The same of a text that is ASCII, looked at once only; false: it is not, and nothing was written. */
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

/** KeyValue's value, and the members of AnyValue. */
const valueTag = 2 * 8 + 2;
const stringTag = 1 * 8 + 2;
const boolTag = 2 * 8;
const intTag = 3 * 8;
const doubleTag = 4 * 8 + 1;
/** From 128 to 16,383, which most records have. */
const usualSizeBytes = 2;
/** Larger buffers are let go of when they are empty. */
const keptBytesMax = 1024 * 1024;
const varintBytesMax = 10;
/** All of an attribute but key and text. */
const attributeFrameBytesMax = 64;
/** Longer ones are copied by the runtime, which costs a call. */
const copiedByHandMax = 64;

/** A key, as it stands in front of every value that it has. */
export function keyBytes(key: string): Uint8Array {
  const writer = new ProtobufWriter(key.length + attributeFrameBytesMax);
  writer.text(1, key);
  return writer.taken();
}

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
  if (length > copiedByHandMax) bytes.set(some, at);
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

/** The machine's order of bytes is the protocol's, on all machines that the runtime is built for. */
function doubleAt(bytes: Buffer, at: number, value: number): number {
  asDouble[0] = value;
  for (let from = 0; from < 8; from++) bytes[at + from] = ofDouble[from] as number;
  return at + 8;
}

/** `size`: its bytes in UTF-8. */
function textAt(bytes: Buffer, at: number, text: string, size: number): void {
  if (size !== text.length || size > copiedByHandMax) bytes.write(text, at, "utf8");
  else for (let from = 0; from < size; from++) bytes[at + from] = text.charCodeAt(from);
}

function sizeOf(text: string): number {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return Buffer.byteLength(text);
  return text.length;
}

function nibble(code: number): number {
  return code > 57 ? code - 87 : code - 48;
}
