import { BACKSLASH, QUOTE } from "./cursor.ts";
/** No wanted name is longer, in characters or in escaped bytes. */
export const nameCharactersMax = 40;
const nameBytesMax = 512;
const cachedNamesMax = 1_024;

/** Names seen before, by hash: objects in a list mostly share their names. */
const cachedNames: (string | undefined)[] = new Array<string | undefined>(cachedNamesMax).fill(undefined);

/** The name between `start` (its opening quote) and `end`; empty if it is too long to be wanted. */
export function memberName(bytes: Uint8Array, start: number, end: number): string {
  const name = asciiName(bytes, start, end);
  if (name !== null) return name;
  return end - start > nameBytesMax ? "" : String(JSON.parse(decode(bytes, start, end)));
}

/** Like `memberName` for ASCII, without allocating names seen before. Null for other characters. */
export function asciiName(bytes: Uint8Array, start: number, end: number): string | null {
  const length = decodeAscii(bytes, start, end);
  if (length < 0) return null;
  let hash = length;
  for (let at = 0; at < length; at++) hash = (Math.imul(hash, 31) + (decoded[at] as number)) | 0;
  const slot = hash & (cachedNamesMax - 1);
  const cached = cachedNames[slot];
  if (cached !== undefined && isSpelled(cached, length)) return cached;
  const name = decoded.toString("latin1", 0, length);
  cachedNames[slot] = name;
  return name;
}

/** The current name, with its escapes decoded. */
const decoded = Buffer.alloc(nameCharactersMax);

/** Fills `decoded` and returns the name's length: 0 if it is too long to be wanted, -1 if it has other characters than ASCII. */
function decodeAscii(bytes: Uint8Array, start: number, end: number): number {
  let length = 0;
  for (let at = start + 1; at < end - 1; at++) {
    let byte = bytes[at] as number;
    if (byte === BACKSLASH) {
      byte = escapedCode(bytes, ++at);
      if (bytes[at] === LOWER_U) at += 4;
    }
    if (byte > 0x7e) return -1;
    if (length === nameCharactersMax) return 0;
    decoded[length++] = byte;
  }
  return length;
}

function isSpelled(name: string, length: number): boolean {
  if (name.length !== length) return false;
  for (let index = 0; index < length; index++) if (decoded[index] !== name.charCodeAt(index)) return false;
  return true;
}

/** The character of the escape after the backslash at `at - 1`. The grammar was checked. */
function escapedCode(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number;
  if (byte !== LOWER_U) return controls.get(byte) ?? byte;
  let code = 0;
  for (let digit = 1; digit <= 4; digit++) {
    const hex = bytes[at + digit] as number;
    code = code * 16 + (hex <= NINE ? hex - ZERO : (hex & 0x0f) + 9);
  }
  return code;
}

const controls: ReadonlyMap<number, number> = new Map([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);
const LOWER_U = 0x75;
const ZERO = 0x30;
const NINE = 0x39;

const decoder = new TextDecoder();

/** A Buffer can be decoded without creating a view of its bytes. */
export function decode(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.isBuffer(bytes) ? bytes.toString("utf8", start, end) : decoder.decode(bytes.subarray(start, end));
}

/**
 * Excludes most names by their first byte and length, and most others by their first two bytes, last byte and length, cheaply enough for
 * every name of a body. Matches may be false.
 */
export class NameFilter {
  /** Lengths of the names by their first byte, as bits: a length and one of 32 more share a bit. */
  readonly lengths = new Int32Array(256);
  /** Bits of the name classes at each index. */
  readonly classes = new Uint8Array(filterSize);

  add(bit: number, names: Iterable<string>): this {
    for (const name of names) {
      const at = filterIndexOf(name);
      const first = name.charCodeAt(0);
      this.lengths[first] = (this.lengths[first] ?? 0) | (1 << name.length);
      this.classes[at] = (this.classes[at] ?? 0) | bit;
    }
    return this;
  }

  /** Whether the name between `start` (its opening quote) and `end` may be one of the names. */
  mayHold(bytes: Uint8Array, start: number, end: number): boolean {
    for (let at = start + 1; at < end - 1; at++) {
      if (bytes[at] === BACKSLASH) return escapedClasses(bytes, start, end, this.classes) !== 0;
    }
    const index = filterIndex(
      bytes[start + 1] as number,
      bytes[start + 2] as number,
      bytes[end - 2] as number,
      end - start - 2,
    );
    return this.classes[index] !== 0;
  }
}

/** The classes that a name with escapes may belong to. */
export function escapedClasses(bytes: Uint8Array, start: number, end: number, classes: Uint8Array): number {
  const length = decodeAscii(bytes, start, end);
  if (length <= 0) return 0;
  const second = length > 1 ? (decoded[1] as number) : QUOTE;
  return classes[filterIndex(decoded[0] as number, second, decoded[length - 1] as number, length)] as number;
}

/** Large enough to make false matches rare: each costs a search of the whole body. */
const filterSize = 4_096;

/** The factors keep common names (`role`, `content`, `description`) apart from wanted ones. */
export function filterIndex(first: number, second: number, last: number, length: number): number {
  return (
    (Math.imul(first, 13) ^ Math.imul(second, 37) ^ Math.imul(last, 21) ^ Math.imul(length, 61)) & (filterSize - 1)
  );
}

function filterIndexOf(name: string): number {
  const second = name.length > 1 ? name.charCodeAt(1) : QUOTE;
  return filterIndex(name.charCodeAt(0), second, name.charCodeAt(name.length - 1), name.length);
}
