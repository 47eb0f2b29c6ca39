import { BACKSLASH, QUOTE } from "./cursor.ts";
/** No name that anybody looks for is longer, in characters; and in bytes, not even with each of its characters as an escape. */
export const nameCharactersMax = 40;
const nameBytesMax = 512;
const cachedNamesMax = 1_024;

/** Plain names as they stood before, by a hash of their bytes: nearly every object has the names of the one before it. */
const cachedNames: (string | undefined)[] = new Array<string | undefined>(cachedNamesMax).fill(undefined);

/** The name, or another short text, between `start` (its opening quote) and `end`; empty for one that nobody looks for. */
export function memberName(bytes: Uint8Array, start: number, end: number): string {
  const name = asciiName(bytes, start, end);
  if (name !== null) return name;
  return end - start > nameBytesMax ? "" : String(JSON.parse(decode(bytes, start, end)));
}

/**
 * The same where it is ASCII, escapes read, without making a string of what was seen before: a body may have hundreds of thousands
 * of names. null for one of other characters; empty for one that is too long to be looked for.
 */
export function asciiName(bytes: Uint8Array, start: number, end: number): string | null {
  let length = 0;
  let hash = 0;
  for (let at = start + 1; at < end - 1; at++) {
    let byte = bytes[at] as number;
    if (byte === BACKSLASH) {
      byte = escapedCode(bytes, ++at);
      if (bytes[at] === LOWER_U) at += 4;
    }
    if (byte > 0x7e) return null;
    if (length === nameCharactersMax) return "";
    characters[length++] = byte;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const slot = (hash + length) & (cachedNamesMax - 1);
  const cached = cachedNames[slot];
  if (cached !== undefined && isSpelled(cached, length)) return cached;
  const name = characters.toString("latin1", 0, length);
  cachedNames[slot] = name;
  return name;
}

/** The characters of the name that is being read. */
const characters = Buffer.alloc(nameCharactersMax);

function isSpelled(name: string, length: number): boolean {
  if (name.length !== length) return false;
  for (let index = 0; index < length; index++) if (characters[index] !== name.charCodeAt(index)) return false;
  return true;
}

/** The character that the escape means whose backslash stands before `at`; its grammar was checked. */
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

/** By the letters that escape them. */
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

/** A part of a Buffer, which most bodies are, is read without a view of it. */
export function decode(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.isBuffer(bytes) ? bytes.toString("utf8", start, end) : decoder.decode(bytes.subarray(start, end));
}

/**
 * Tells of most names that they are none of those looked for, by their first two bytes, their last one and their length: what a scan can
 * do with every name of a body on its way. A name that gets through may still be another one.
 */
export class NameFilter {
  /** The classes, as bits, of the names that fall on an index. */
  readonly classes = new Uint8Array(filterSize);

  add(bit: number, names: Iterable<string>): this {
    for (const name of names) {
      const at = filterIndexOf(name);
      this.classes[at] = (this.classes[at] ?? 0) | bit;
    }
    return this;
  }
}

/** Large enough that hardly any two names fall on one index by chance: whoever hears a name searches the whole body for it. */
export const filterSize = 4_096;

/** The factors keep the names that nearly every body has (`role`, `content`, `description`) off those that are looked for. */
export function filterIndex(first: number, second: number, last: number, length: number): number {
  return (
    (Math.imul(first, 13) ^ Math.imul(second, 37) ^ Math.imul(last, 21) ^ Math.imul(length, 61)) & (filterSize - 1)
  );
}

export function filterIndexOf(name: string): number {
  const second = name.length > 1 ? name.charCodeAt(1) : QUOTE;
  return filterIndex(name.charCodeAt(0), second, name.charCodeAt(name.length - 1), name.length);
}
